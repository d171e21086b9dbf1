"""A service with Presidio's REST contract, run as its own process; it can be made to misbehave.

The first requests for a text that begins with a word in braces fail in that way: {500}, {drop}, {slow}, {junk}.
`{always}` never succeeds, and `{refuse}` is rejected as a bad request.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from spanscore.corpus.records import Document
from spanscore.detectors.presidio import Presidio

FAULTS = 2
"""How many requests for a text fail before one succeeds."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    detector: Presidio
    asked: ClassVar[Counter[str]] = Counter()
    lock = threading.Lock()

    def do_GET(self) -> None:
        if self.path.startswith("/supportedentities"):
            self._answer(200, list(self.detector.describe().types.supported or ()))
        elif self.path == "/version":
            self._answer(200, {"version": os.environ.get("SERVICE_VERSION", "1")})
        else:
            self._answer(200, "up")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["text"]
        fault = text[1 : text.index("}")] if text.startswith("{") and "}" in text else ""
        with self.lock:
            self.asked[text] += 1
            again = self.asked[text] <= FAULTS or fault == "always"
        if again and fault in ("500", "always"):
            self._answer(500, {"error": "out of order"})
        elif again and fault == "drop":
            self.close_connection = True
            self.connection.close()
        elif again and fault == "slow":
            time.sleep(3)
            self._answer(200, [])
        elif again and fault == "junk":
            self._send(200, b'[{"entity_type": ')
        elif fault == "refuse":
            self._answer(400, {"error": "bad"})
        else:
            with self.lock:
                found = next(iter(self.detector.detect([Document(id="0", text=text, spans=[])])))
            spans = [
                {"entity_type": one.label, "start": one.start, "end": one.end, "score": one.score}
                for one in (found if isinstance(found, list) else [])
            ]
            self._answer(200, spans)

    def _answer(self, status: int, said: Any) -> None:
        self._send(status, json.dumps(said).encode())

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: Any) -> None:
        pass


if __name__ == "__main__":
    Handler.detector = Presidio(language="en", model="blank")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    sys.stdout.close()
    server.serve_forever()
