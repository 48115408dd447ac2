"""A small object store that speaks S3: objects by bucket and key, every request's signature (Version 4) checked.

The check is AWS's published recipe, written here on its own, so that a client that signs wrongly is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

from services.core.settings import S3Access

PAGE = 3  # keys in a listing, so that none is whole
KEY_ID, SECRET = "AKIAEXAMPLE", "the secret access key of the tests"


class S3Server:
    """What is stored, and how the server behaves: with `failing`, every request is answered 503."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.failing = False
        self.port = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def access(self, **changes: str) -> S3Access:
        """Settings that reach this server."""
        given = {"endpoint": self.endpoint, "region": "eu-west-1", "access_key_id": KEY_ID, "secret_access_key": SECRET}
        return S3Access.model_validate(given | changes)


class _Server(ThreadingHTTPServer):
    def __init__(self, store: S3Server) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store = store
        store.port = self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if self._allowed(body):
            self.server.store.objects[unquote(urlsplit(self.path).path)] = body
            self._answer(200, headers={"ETag": '"stored"'})

    def do_POST(self) -> None:
        """DeleteObjects, the one request of this kind that is known."""
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if self._allowed(body):
            bucket = unquote(urlsplit(self.path).path).rstrip("/") + "/"
            keys = [unescape(one) for one in re.findall(r"<Key>(.*?)</Key>", body.decode())]
            for one in keys:
                self.server.store.objects.pop(bucket + one, None)
            gone = "".join(f"<Deleted><Key>{escape(one)}</Key></Deleted>" for one in keys)
            self._answer(200, f"<DeleteResult>{gone}</DeleteResult>".encode())

    def do_GET(self) -> None:
        if not self._allowed(b""):
            return
        asked = dict(parse_qsl(urlsplit(self.path).query))
        if "list-type" in asked:
            self._answer(200, self._listing(asked))
            return
        content = self.server.store.objects.get(unquote(urlsplit(self.path).path))
        if content is None:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            self._answer(200, content, headers={"Last-Modified": "Mon, 02 Mar 2026 09:00:00 GMT", "ETag": '"stored"'})

    def _listing(self, asked: dict[str, str]) -> bytes:
        """A page of ListObjectsV2: `PAGE` keys of the bucket, from the continuation token on."""
        bucket = unquote(urlsplit(self.path).path).rstrip("/") + "/"
        found = sorted(one.removeprefix(bucket) for one in self.server.store.objects if one.startswith(bucket))
        keys = [one for one in found if one.startswith(asked.get("prefix", ""))]
        begin = int(asked.get("continuation-token", "0"))
        more = begin + PAGE < len(keys)
        listed = "".join(
            f"<Contents><Key>{escape(one)}</Key><LastModified>2026-03-02T09:00:00.000Z</LastModified>"
            f"<Size>{len(self.server.store.objects[bucket + one])}</Size></Contents>"
            for one in keys[begin : begin + PAGE]
        )
        token = f"<NextContinuationToken>{begin + PAGE}</NextContinuationToken>" if more else ""
        return f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}{listed}</ListBucketResult>".encode()

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def _allowed(self, body: bytes) -> bool:
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.server.store.failing:
            self._answer(503, b"<Error><Code>SlowDown</Code></Error>")
        elif not signed(self.command, self.path, headers, body):
            self._answer(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
        else:
            return True
        return False

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running_s3() -> Iterator[S3Server]:
    """A server on a free port for the block."""
    store = S3Server()
    server = _Server(store)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()


def signed(method: str, target: str, headers: dict[str, str], body: bytes) -> bool:
    """Whether a request's `Authorization` is what AWS Signature Version 4 makes of it with our key."""
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    fields = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
    key_id, day, region, service, _ = [*fields.get("Credential", "").split("/"), "", "", "", "", ""][:5]
    hashed = headers.get("x-amz-content-sha256", "")
    if scheme != "AWS4-HMAC-SHA256" or key_id != KEY_ID:
        return False
    if hashed not in ("UNSIGNED-PAYLOAD", hashlib.sha256(body).hexdigest()):
        return False
    names, url = fields["SignedHeaders"].split(";"), urlsplit(target)
    query = "&".join(
        f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}"
        for k, v in sorted(parse_qsl(url.query, keep_blank_values=True))
    )
    lines = [
        method,
        url.path,
        query,
        *(f"{n}:{' '.join(headers[n].split())}" for n in names),
        "",
        ";".join(names),
        hashed,
    ]
    scope = f"{day}/{region}/{service}/aws4_request"
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest])
    key = f"AWS4{SECRET}".encode()
    for part in (day, region, service, "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.compare_digest(key.hex(), fields["Signature"])
