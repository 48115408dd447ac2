"""An OpenAI-compatible `/embeddings` over HTTP, for tests: what it answers is set, its vectors are those of a hash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.support.vectors import HashVectors


class EmbeddingServer:
    """`answer` gives status and body to all that is asked, or None for vectors; `asked` counts requests."""

    def __init__(self) -> None:
        self.answer: tuple[int, bytes] | None = None
        self.asked = 0
        self.url = ""

    def answer_to(self, body: bytes) -> tuple[int, bytes]:
        """The answer to one request."""
        self.asked += 1
        if self.answer is not None:
            return self.answer
        given = json.loads(body)
        vectors = HashVectors(given["model"])
        rows = [{"index": n, "embedding": vectors.of(text).tolist()} for n, text in enumerate(given["input"])]
        return 200, json.dumps({"data": rows}).encode()


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A server for the block."""
    ours = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, body = ours.answer_to(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        ours.url = f"http://127.0.0.1:{server.server_port}/v1/embeddings"
        yield ours
        server.shutdown()
