"""A chat completions endpoint, run as its own process: it checks requests as the protocol demands, and can misbehave.

It "finds" every word with a capital letter, and what the text puts in square brackets, which is not in the text as such.
The first requests for a text that begins with a word in braces fail in that way.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

FAULTS = 2
KEY = "Bearer secret"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked: ClassVar[Counter[str]] = Counter()
    waited: ClassVar[dict[str, float]] = {}
    lock = threading.Lock()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != KEY:
            return self._answer(401, {"error": {"message": "no key", "code": "invalid_api_key"}})
        if self.path.partition("?")[0] != "/v1/chat/completions":
            return self._answer(404, {"error": {"message": "not found"}})
        if problem := unfit(asked):
            return self._answer(400, {"error": {"message": problem, "type": "invalid_request_error"}})
        text = asked["messages"][-1]["content"]
        fault = text[1 : text.index("}")] if text.startswith("{") else ""
        with self.lock:
            self.asked[text] += 1
            now = time.monotonic()
            before = self.waited.setdefault(text, now)
            again = self.asked[text] <= FAULTS or fault == "always"
        if fault == "429" and now - before < 1 and self.asked[text] > 1:
            return self._answer(400, {"error": {"message": "Retry-After was not honoured"}})
        content = json.dumps({"entities": found_in(text)})
        reason, choices = "stop", True
        if again and fault == "429":
            self.asked[text] = FAULTS
            return self._answer(429, {"error": {"message": "slow down"}}, {"Retry-After": "1"})
        if again and fault in ("500", "always"):
            return self._answer(500, {"error": {"message": "out of order"}})
        if again and fault == "slow":
            time.sleep(5)
        if again and fault == "cut":
            content, reason = content[:-9], "length"
        if again and fault == "half":
            content = content[:-9]
        if again and fault == "schema":
            content = json.dumps({"people": ["Ann"]})
        if again and fault == "type":
            content = json.dumps({"entities": [{"text": "Ann", "type": "ROBOT"}]})
        if again and fault == "choices":
            choices = False
        if fault == "fences":
            content = f"```json\n{content}\n```"
        if fault == "think":
            content = f"<think>\nIs {{}} JSON?\n</think>\n\n{content}"
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if fault == "parts":
            message["content"] = [{"type": "text", "text": half} for half in (content[:9], content[9:])]
        if again and fault == "filter":
            message["content"], reason = "", "content_filter"
        if again and fault == "tool":
            call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
            message |= {"content": None, "tool_calls": [call]}
            reason = "tool_calls"
        if again and fault == "refusal":
            message |= {"content": None, "refusal": "I cannot."}
        said = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}] if choices else [],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        return self._answer(200, said)

    def _answer(self, status: int, said: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(said).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        pass


def unfit(asked: dict[str, Any]) -> str | None:
    """Return what is wrong with a request."""
    roles = [message.get("role") for message in asked.get("messages", [])]
    if asked.get("model") != "tiny" or roles != ["system", "user"]:
        return "expected the model tiny, a system and a user message"
    if asked["messages"][0]["content"] != "Find names in en.":
        return "expected the prompt"
    wanted = asked.get("response_format", {})
    if wanted.get("type") == "json_object":
        return None
    schema = wanted.get("json_schema", {}).get("schema", {})
    strict = wanted.get("type") == "json_schema" and wanted["json_schema"].get("strict") is True
    return None if strict and schema.get("required") == ["entities"] else "expected a strict schema"


def found_in(text: str) -> list[dict[str, str]]:
    names = [{"text": name, "type": "PERSON"} for name in re.findall(r"\b[A-Z]\w+", text)]
    return names + [{"text": name[::-1], "type": "PERSON"} for name in re.findall(r"\[(\w+)\]", text)]


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    sys.stdout.close()
    server.serve_forever()
