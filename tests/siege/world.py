"""The outside world of the runs: one HTTP server that is both the model and the place where effects happen.

The model answers from the conversation alone (dialogue.py), so a run has one right answer. Effects are
counted when a request has arrived completely; what happens to the sender afterwards does not matter.
"""

import hashlib
import json
import re
import socket
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import dialogue

PIECE_PAUSE = 0.001  # seconds between two pieces of an answer


@dataclass(frozen=True)
class Arrival:
    """One effect that happened: when, by which method, and with which body."""

    time: float
    method: str
    body: str


class World:
    """The server and its ledger. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._effects: dict[str, dict[str, list[Arrival]]] = defaultdict(lambda: defaultdict(list))
        self._asked: dict[str, int] = defaultdict(int)
        self._strange: list[str] = []
        self.slow = 1.0  # factor of all delays
        self.pause = PIECE_PAUSE
        self.on_effect = None  # called with tag and name while the sender waits
        self._server = _Server(self)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def effects(self, tag: str) -> dict[str, list[Arrival]]:
        """Returns what happened for the run `tag`: arrivals by name of the effect."""
        with self._lock:
            return {name: list(arrivals) for name, arrivals in self._effects[tag].items()}

    def model_calls(self, tag: str) -> int:
        """Returns how often the model was asked for the run `tag`."""
        with self._lock:
            return self._asked[tag]

    def strange(self) -> list[str]:
        """Returns and forgets descriptions of requests that no agent file explains."""
        with self._lock:
            strange, self._strange = self._strange, []
            return strange

    def forget(self, tag: str) -> None:
        with self._lock:
            self._effects.pop(tag, None)
            self._asked.pop(tag, None)

    def take_effect(self, method: str, path: str, body: str) -> bytes:
        """Counts the effect and returns the answer."""
        _, _, tag, name = path.split("/", 3)
        with self._lock:
            self._effects[tag][name].append(Arrival(time.monotonic(), method, body))
        if self.on_effect:
            self.on_effect(tag, name)
        time.sleep(self._delay(path, 0.002, 0.025))
        return f"ok {name}".encode()

    def answer(self, request: dict) -> list[bytes]:
        """Returns the pieces of the model's answer to a Chat Completions request."""
        try:
            reply = dialogue.reply(request["messages"], self.port)
        except dialogue.Unknown as error:
            with self._lock:
                self._strange.append(str(error))
            raise
        with self._lock:
            self._asked[reply.tag] += 1
            self._strange += _own_words(request["messages"])
        time.sleep(self._delay(json.dumps(request["messages"]), 0.001, 0.012))
        return _stream(reply) if request.get("stream") else [_whole(reply)]

    def _delay(self, text: str, least: float, most: float) -> float:
        part = hashlib.blake2b(text.encode(), digest_size=2).digest()
        return self.slow * (least + (most - least) * int.from_bytes(part, "big") / 65536)


def _own_words(messages: list[dict]) -> list[str]:
    """Returns what the model reads about the journal or the disk of the machine: that is not its business."""
    texts = [str(message.get("content")) for message in messages if message["role"] in ("tool", "user")]
    words = re.compile(r"journal|disk I/O|no space left|database file|\blease")
    return [f"the model has read {text[:200]!r}" for text in texts if words.search(text)]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, world: World) -> None:
        self.world = world
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request, client_address) -> None:
        """A sender that was killed is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *arguments) -> None:
        pass

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.startswith("/effect/"):
            self._send("text/plain", [self.server.world.take_effect(self.command, self.path, body.decode())])
        else:
            request = json.loads(body)
            kind = "text/event-stream" if request.get("stream") else "application/json"
            self._send(kind, self.server.world.answer(request))

    do_PUT = do_POST

    def _send(self, kind: str, pieces: list[bytes]) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        for index, piece in enumerate(pieces):
            end = b"0\r\n\r\n" if index + 1 == len(pieces) else b""
            self.wfile.write((b"" if index else head) + b"%x\r\n%s\r\n" % (len(piece), piece) + end)
            self.wfile.flush()
            if not end:
                time.sleep(self.server.world.pause)


def _message(reply: dialogue.Reply) -> dict:
    calls = [
        {"index": index, "id": call.id, "type": "function",
         "function": {"name": call.tool, "arguments": json.dumps(call.arguments)}}
        for index, call in enumerate(reply.calls)
    ]
    return {"role": "assistant", "content": reply.text or None, **({"tool_calls": calls} if calls else {})}


def _usage() -> dict:
    return {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30}


def _whole(reply: dialogue.Reply) -> bytes:
    finish = "tool_calls" if reply.calls else "stop"
    choice = {"index": 0, "message": _message(reply), "finish_reason": finish}
    return json.dumps({"id": "x", "model": "m", "choices": [choice], "usage": _usage()}).encode()


def _stream(reply: dialogue.Reply) -> list[bytes]:
    message = _message(reply)
    calls = message.pop("tool_calls", [])
    text = message.pop("content") or ""
    half = len(text) // 2
    deltas = [{"role": "assistant", "content": ""}, *({"content": part} for part in (text[:half], text[half:]) if part)]
    deltas += [{"tool_calls": [call]} for call in calls]
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"})
    pieces = [_event({"id": "x", "model": "m", "choices": [chunk]}) for chunk in chunks]
    pieces.append(_event({"id": "x", "model": "m", "choices": [], "usage": _usage()}) + b"data: [DONE]\n\n")
    return pieces


def _event(value: dict) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
