import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

from services.core.errors import EmbedderDenied, EmbedderUnavailable
from services.memory.embeddings import HTTP_BATCH_SIZE, EmbedderRefused, HttpEmbedder, TextRefused


class Endpoint(BaseHTTPRequestHandler):
    """An OpenAI-like /embeddings: the vector is (length of the text, 1), and rows come back in reverse."""

    status = 200
    page = b""
    requests: list[tuple[str | None, dict]] = []  # noqa: RUF012  (one server a test)

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Endpoint.requests.append((self.headers.get("Authorization"), given))
        rows = [{"index": n, "embedding": [len(text), 1.0]} for n, text in enumerate(given["input"])]
        answer = json.dumps({"data": rows[::-1]}).encode()
        answer = Endpoint.page or answer
        self.send_response(Endpoint.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Endpoint.status, Endpoint.page, Endpoint.requests = 200, b"", []
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/embeddings"
        server.shutdown()


async def test_vectors_come_normalised_and_in_order(url):
    """Whatever order the endpoint answers in, each text gets its own vector, of length 1."""
    embedder = HttpEmbedder(url, "some-model", 2, key="secret")
    one, three = await embedder.embed(["a", "abc"])
    assert one.tolist() == pytest.approx([0.5**0.5, 0.5**0.5])
    assert three.tolist() == pytest.approx(np.array([3, 1]) / 10**0.5)
    assert Endpoint.requests == [("Bearer secret", {"model": "some-model", "input": ["a", "abc"]})]
    await embedder.close()


async def test_many_texts_are_sent_in_batches(url):
    """More texts than a request may hold are spread over several."""
    vectors = await HttpEmbedder(url, "m", 2).embed(["x"] * (HTTP_BATCH_SIZE + 1))
    assert len(vectors) == HTTP_BATCH_SIZE + 1
    assert [len(given["input"]) for _, given in Endpoint.requests] == [HTTP_BATCH_SIZE, 1]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, EmbedderUnavailable),
        (503, EmbedderUnavailable),
        (401, EmbedderDenied),
        (404, EmbedderRefused),
        (400, EmbedderRefused),
    ],
)
async def test_overload_is_temporary_and_refusal_is_not(url, status, error):
    """429 and 5xx may be tried again, a denied key when somebody has seen to it, other errors may not."""
    Endpoint.status = status
    with pytest.raises(error):
        await HttpEmbedder(url, "m", 2).embed(["x"])


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_what_may_be_the_texts_fault_is_told_apart(url, status):
    """A refused text is no refused key: others may still get their vectors."""
    Endpoint.status = status
    with pytest.raises(TextRefused):
        await HttpEmbedder(url, "m", 2).embed(["x"])


def test_vectors_of_another_length_are_another_models():
    """Some models give vectors of several lengths: the name that they are stored with tells them apart."""
    names = {HttpEmbedder("http://127.0.0.1:9", "m", size).name for size in (256, 1024)}
    assert names == {"m/256", "m/1024"}


async def test_no_answer_is_temporary(url):
    """An endpoint that nobody listens at may come back."""
    with pytest.raises(EmbedderUnavailable):
        await HttpEmbedder("http://127.0.0.1:9/v1/embeddings", "m", 2).embed(["x"])


@pytest.mark.parametrize("page", [b"<html>soon</html>", b"{}", b"[]", b'{"data": [{"index": 0}]}', b'{"data": null}'])
async def test_a_page_in_place_of_vectors_failed_for_good(url, page):
    """What a proxy says while the service is away is no refusal of the text."""
    Endpoint.page = page
    with pytest.raises(EmbedderUnavailable):
        await HttpEmbedder(url, "m", 2).embed(["x"])


async def test_vectors_of_the_wrong_length_are_refused(url):
    """A model that does not have the configured dimensions is a mistake in the settings."""
    with pytest.raises(EmbedderRefused):
        await HttpEmbedder(url, "m", 3).embed(["x"])
