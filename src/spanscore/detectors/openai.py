"""`openai`: a language model behind any OpenAI-compatible chat endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.detectors.http_client import address_of
from spanscore.detectors.interface import Description, Detection, EntityTypes, Failure, spans_of
from spanscore.detectors.service_errors import ServiceError
from spanscore.detectors.web_service import UnusableError, WebService
from spanscore.errors import InputError
from spanscore.formats import placement
from spanscore.spec import REQUIRED, parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "/chat/completions"


class Entity(msgspec.Struct):
    """A mention in a model's answer."""

    text: str
    type: str


class Entities(msgspec.Struct):
    """A model's answer."""

    entities: list[Entity]


_answer = msgspec.json.Decoder(Entities)


@dataclass(frozen=True, repr=False)
class Openai(WebService):
    """A language model behind an OpenAI-compatible endpoint, `POST URL/chat/completions`, with structured output.

    The prompt is the system message, the text is the user message, and the answer is JSON by a schema:
    `{"entities": [{"text", "type"}]}`. Mentions are placed on the text as the format `llm` does; what is not in the
    text is a prediction with the verdict "invented". Truncated answers and answers that violate the schema are retried
    like a server error; a refused or filtered one is a failure of that document. It needs the extra `http`.
    """

    name: ClassVar[str] = "openai"
    file_options: ClassVar[tuple[str, ...]] = ("prompt",)
    model: str = parameter(REQUIRED, "Name of the model.", type=str)
    prompt: str = parameter(REQUIRED, "File with the instructions for the model; $language is replaced.", type=str)
    labels: tuple[str, ...] = parameter((), "Types that the model may use (default: any).")
    temperature: float | None = parameter(
        0.0, "Sampling temperature; none leaves it out of the request.", low=0, high=2, optional=True
    )
    seed: int | None = parameter(None, "Seed, if the service takes one.", type=int, low=0, high=2**31)
    schema: bool = parameter(True, "Ask for the JSON schema; false asks for any JSON object, for older services.")

    @property
    def base_url(self) -> str:
        """The address without the path of the operation."""
        place = address_of(self.url)
        return place._replace(path=place.path.rstrip("/").removesuffix(PATH)).geturl()

    @property
    def path(self) -> str:
        """The operation, with the query of the address."""
        return self.with_query(PATH)

    def body(self, text: str) -> Any:
        """Return the request for a text."""
        messages = [{"role": "system", "content": self._instructions}, {"role": "user", "content": text}]
        wanted: dict[str, Any] = {"type": "json_object"}
        if self.schema:
            strict = {"name": "entities", "strict": True, "schema": _schema(self.labels)}
            wanted = {"type": "json_schema", "json_schema": strict}
        given = {"temperature": self.temperature, "seed": self.seed}
        more = {name: value for name, value in given.items() if value is not None}
        return {"model": self.model, "messages": messages, "response_format": wanted, **more}

    def detection(self, answer: Any, text: str) -> Detection:
        """Place the mentions of an answer on the text."""
        try:
            choice = answer["choices"][0]
            message, reason = choice["message"], choice.get("finish_reason")
            content, refused = _content(message.get("content")), message.get("refusal")
        except (TypeError, KeyError, IndexError, AttributeError):
            raise UnusableError("the service's answer is not a chat completion") from None
        if refused:
            return Failure("the model refused to answer")  # and would refuse again
        if reason == "content_filter":
            return Failure("the service's content filter blocked the answer")
        if reason == "length":
            raise UnusableError("the model's answer is cut off")
        if reason in ("tool_calls", "function_call") or (message.get("tool_calls") and not content):
            raise UnusableError("the model called a tool instead of answering")
        try:
            found = _answer.decode(_json_part(content))
        except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError):
            raise UnusableError("the model's answer does not follow the JSON schema") from None
        return spans_of(placement.spans(text, self._mentions(found)), len(text))

    @property
    def tells_in_answers(self) -> bool:
        """Whether answers tell a version; most services do."""
        return True

    def version_in(self, answer: Any) -> str | None:
        """Return the model that answered, with its fingerprint; the name that was asked for says nothing by itself."""
        told = [one for one in map(answer.get, ("model", "system_fingerprint")) if isinstance(one, str) and one]
        return None if told in ([], [self.model]) else " ".join(told)

    def advice(self, status: int, error: ServiceError) -> str:
        """Name the option for services that know no schemas, or for models that take no temperature."""
        if status != 400:
            return ""
        about_format, about_temperature = error.names("response_format"), error.names("temperature")
        if about_temperature and not about_format and self.temperature is not None:
            return "; if it takes no temperature, use temperature=none"
        unnamed = not (error.code or error.parameter or about_temperature)
        if self.schema and (about_format or unnamed):
            return "; if it does not support JSON schemas, use schema=false"
        return ""

    def _mentions(self, found: Entities) -> Iterator[tuple[str, str, None, None]]:
        allowed = {label.casefold(): label for label in self.labels}
        for one in found.entities:
            label = allowed.get(one.type.casefold(), one.type)
            if not label or (allowed and label not in self.labels):
                raise UnusableError("the model used a type that it was not given")
            yield one.text, label, None, None

    def describe(self) -> Description:
        """Read the prompt, and report the labels, if they are given."""
        assert self._instructions is not None
        assert self.client is not None
        return Description(EntityTypes(supported=tuple(sorted(self.labels)) or None))

    @cached_property
    def _instructions(self) -> str:
        try:
            return Path(self.prompt).read_text("utf-8").replace("$language", self.language)
        except UnicodeDecodeError:
            raise InputError("the prompt is not UTF-8.", self.prompt) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "not a valid file name"
            raise InputError(f"cannot read the prompt ({why}).", self.prompt) from None


def _schema(labels: tuple[str, ...]) -> dict[str, Any]:
    """Return the JSON schema of an answer, in the subset that strict output supports."""
    kind: dict[str, Any] = {"type": "string", "enum": list(labels)} if labels else {"type": "string"}
    entity = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "type": kind},
        "required": ["text", "type"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"entities": {"type": "array", "items": entity}},
        "required": ["entities"],
        "additionalProperties": False,
    }


def _content(content: Any) -> str:
    """Return the text of a message, which may be a list of parts.

    >>> _content([{"type": "text", "text": '{"entities"'}, {"type": "text", "text": ": []}"}])
    '{"entities": []}'
    """
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [one.get("text") for one in parts if isinstance(one, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _json_part(content: str) -> str:
    """Return JSON without what models without structured output put around it: their thoughts and Markdown fences.

    >>> _json_part('<think>Who is Ann?</think>\\n```json\\n{"entities": []}\\n```')
    '{"entities": []}'
    """
    stripped = content.strip()
    if stripped.startswith("<think>"):
        stripped = stripped.partition("</think>")[2].strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped[3:-3].removeprefix("json").strip()
    return stripped
