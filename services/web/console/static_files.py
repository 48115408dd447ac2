"""Our own modules and style sheet, whose addresses change when they do."""

from __future__ import annotations

from fastapi import APIRouter, Response

from services.core.web import RequestRefused
from services.web.console.language import translated
from services.web.console.site import HERE, Site, static_version

FOLDER = HERE / "static"
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
YEAR_S = 365 * 24 * 3600


def static_files(site: Site) -> APIRouter:
    """The files of the folder, each by its name; there are no others."""
    router = site.router(reads=None)
    known = {path.name: path for path in FOLDER.iterdir() if path.suffix in TYPES}

    @router.get("/static/{version}/{name}")
    async def static(version: str, name: str) -> Response:
        if name not in known or version != static_version():
            raise RequestRefused(404, "file_unknown", translated("There is no such file."))
        path = known[name]
        headers = {"Cache-Control": f"public, max-age={YEAR_S}, immutable"}
        return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=headers)

    return router
