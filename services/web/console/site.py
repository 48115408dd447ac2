"""What every page of the console stands on: templates, the session, and answers, errors included, as pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Mapping
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from schemas.events.mail import UNPROVEN_LEVELS
from services.core.app import App
from services.core.bus.retry import PASSING
from services.core.errors import Temporary
from services.core.paging import BadCursor
from services.core.storable import is_storable
from services.core.units import MB
from services.core.web import RequestRefused
from services.operations.settle import newest
from services.operations.sign_in import Session, session_of
from services.operations.users import Role, User, is_empty
from services.operations.users.audit import note
from services.web.console import shown
from services.web.console.forms import Files, Form, read_form_and_files
from services.web.console.sessions import form_token, is_form_token, token_in

log = structlog.get_logger(__name__)

ROOT = "/console"
HERE = Path(__file__).parent
SAFE = frozenset({"GET", "HEAD"})
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
        "Cache-Control": "no-store",
    }
)
DONE: Mapping[str, str] = MappingProxyType(  # what an address may say was done: words of ours, never of the address
    {
        "moved": "The thread's state was changed.",
        "noted": "The note was added.",
        "replied": "Your reply is on its way.",
        "taken_back": "Your reply was taken back. Nothing left, and the thread is yours.",
        "taken": "You have the thread. The agent writes nothing in it until you hand it back.",
        "assigned": "The thread was assigned.",
        "assigned_all": "The threads were assigned.",
        "resolved": "The threads were resolved.",
        "view_saved": "The view is kept: you find it above the list.",
        "view_forgotten": "The view is kept no longer.",
        "snoozed": "The thread is snoozed. It comes back at that moment, or sooner if the customer writes.",
        "snoozed_all": "The threads are snoozed. Each comes back at that moment, or sooner if its customer writes.",
        "woken": "The thread is on the list again.",
        "approved": "Approved. The reply is on its way.",
        "rejected": "The draft was rejected.",
        "corrected": "The fact was corrected.",
        "pinned": "The fact is pinned.",
        "unpinned": "The fact is not pinned any more.",
        "forgotten": "The fact was forgotten.",
        "restored": "Brought back. What came since is forgotten, and what was gone holds again.",
        "restoring": "Confirmed. It goes on by itself, person by person.",
        "restore_stopped": "Stopped. Nobody else is brought back.",
        "brief": "The brief was written.",
        "merged": "They are one person now: whoever reads one of them reads both.",
        "unmerged": "Each is again what was learned under their own address.",
        "erased": "Erased. What was held of this person cannot be read any more.",
        "pending": "Your request is stored. It has not been decided yet; reload this page in a moment.",
        "added": "Added. The agent finds it from now on.",
        "same": "Nothing changed: it stands like this already.",
        "document_removed": "Removed. The agent finds it no more.",
        "accepted": "The article is part of the knowledge base.",
        "article_proposed": "The article is proposed. Read it here before you add it.",
        "article_rejected": "The article was rejected, and is not proposed again.",
        "closed": "The incident is closed. Drafts of the answer, if there is one, wait for approval in a moment.",
        "reopened": "The incident is open again.",
        "redriven": "The dead letter was handled.",
        "discarded": "The dead letter was discarded.",
        "signed_out": "You are signed out.",
        "role": "The role was changed.",
        "removed": "Removed. Whoever it was is out from now on.",
        "password": "Your password was changed, and your other sessions have ended.",
        "factor_on": "From now on a code of your app is asked for when you sign in.",
        "factor_off": "No code is asked for any more.",
        "settings_changed": "Stored. Every process takes it on within seconds.",
        "endpoint_changed": "Saved. The next webhook goes by it.",
        "endpoint_paused": "Paused. It is told nothing; what waits goes on waiting.",
        "endpoint_resumed": "Resumed. It is told what happens from now on, and gets what waited.",
        "endpoint_removed": "Removed. The endpoint is told nothing more.",
        "webhook_taken": "Delivered: the endpoint took it.",
        "webhook_refused": "Not delivered. The list below says why.",
        "webhook_waits": "Not delivered yet. The list below says what came of it so far.",
        "revoked": "The token is worth nothing any more.",
        "linked": "From now on the account signs you in.",
        "unlinked": "No account signs you in any more. Your password, or a link, does.",
    }
)


class SignInNeeded(Exception):
    """The request came with no session, or with one that is over; `empty`: nobody is a user yet."""

    def __init__(self, empty: bool) -> None:
        super().__init__()
        self.empty = empty


class _Compiled(BytecodeCache):
    """What this process has compiled of templates: another console in it has the same ones."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key, bucket.checksum] = bucket.code


@cache
def _compiled() -> _Compiled:
    return _Compiled()


class Site:
    """The console of one deployment."""

    def __init__(self, app: App) -> None:
        self.app = app

    @cached_property
    def _templates(self) -> Environment:
        found = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            bytecode_cache=_compiled(),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        ago, ahead = shown.ages(self.app.now)
        found.filters |= {
            "line": shown.line,
            "body": shown.body,
            "moment": shown.moment,
            "ago": ago,
            "ahead": ahead,
            "web_address": shown.web_address,
            "words": shown.words,
            "query": urlencode,
            "segment": lambda text: quote(str(text), safe=""),
        }
        found.globals |= {
            "ROOT": ROOT,
            "STATES": shown.STATES,
            "IDENTITIES": shown.IDENTITIES,
            "UNPROVEN": UNPROVEN_LEVELS,
            "OIDC": self.app.settings.console.oidc,
            "static": static_address,
        }
        return found

    def page(self, request: Request, template: str, status: int = 200, **given: Any) -> HTMLResponse:
        """A page. It knows who looks at it, and up to which event what it shows is certain to be newer."""
        session = session_in(request)
        about = {
            "session": session,
            "form_token": form_token(self.app, session) if session else "",
            "may": session.user.may if session else _nothing,
            "seq": getattr(request.state, "seq", 0),
            "path": request.url.path,
            "done": DONE.get(request.query_params.get("done", ""), ""),
            "onward": request.url.path if request.method in SAFE else "",
            "refused": "",
        }
        return HTMLResponse(self._templates.get_template(template).render(about | given), status)

    def problem(self, request: Request, status: int, message: str) -> HTMLResponse:
        """What went wrong, and what to do, as a page."""
        return self.page(request, "problem.html", status, code=status, message=message)

    def router(self, *, reads: Role | None = "viewer", acts: Role = "agent") -> APIRouter:
        """A router whose routes answer with pages. `reads`: the role that sees them, None for everybody; `acts`: the
        role that sends their forms.
        """
        return APIRouter(prefix=ROOT, route_class=_pages_of(self, reads, acts), include_in_schema=False)


def session_in(request: Request) -> Session | None:
    """Who is signed in, as far as this request was asked."""
    found: Session | None = getattr(request.state, "session", None)
    return found


def user_in(request: Request) -> User:
    """Who is signed in, on a page for those who are."""
    session = session_in(request)
    assert session is not None
    return session.user


def viewer(request: Request) -> str:
    """The name that is recorded as `by`."""
    return user_in(request).name


def _nothing(role: Role) -> bool:
    return False


def form_of(request: Request) -> Form:
    """What the form sent."""
    found: Form = request.state.form
    return found


def files_of(request: Request) -> Files:
    """The files that the form sent."""
    found: Files = request.state.files
    return found


def place_of(app: App, request: Request) -> str:
    """Where the console is: as the settings say, else as this request reached it."""
    return app.settings.web.console_url.rstrip("/") or str(request.base_url).rstrip("/")


def done(path: str, what: str, fragment: str = "") -> RedirectResponse:
    """After an act: look at a page, which says what was done."""
    return RedirectResponse(f"{ROOT}{path}?done={what}{f'#{fragment}' if fragment else ''}", 303)


@cache
def static_version() -> str:
    """What names the static files as they are: one for all, since a module imports another by its bare name."""
    digest = hashlib.sha256()
    for path in sorted((HERE / "static").iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def static_address(name: str) -> str:
    """The address of a static file, which changes when one of them does."""
    return f"{ROOT}/static/{static_version()}/{name}"


def _pages_of(site: Site, reads: Role | None, acts: Role) -> type[APIRoute]:
    class Page(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            inner = super().get_route_handler()

            async def handle(request: Request) -> Response:
                try:
                    if reads:
                        await _admit(site.app, request, reads if request.method in SAFE else acts)
                    answer = await inner(request)
                except Exception as error:
                    answer = _answer(site, request, error)
                if request.method not in SAFE and (session := session_in(request)):
                    act = self.path_format.removeprefix(ROOT)
                    await note(site.app, session.by, act, request.url.path.removeprefix(ROOT), answer.status_code)
                for name, value in HEADERS.items():
                    answer.headers.setdefault(name, value)
                return answer

            return handle

    return Page


async def _admit(app: App, request: Request, role: Role) -> None:
    """Let the request on where it is of a session whose user has the role, and a form of that session. Raises what is
    answered otherwise.
    """
    _storable(request)
    session = await session_of(app, token_in(request))
    if session is None:
        raise SignInNeeded(await is_empty(app))
    request.state.session = session
    if not session.user.may(role):
        said = f"This needs the role {role}, and yours is {session.user.role}. An admin can change it."
        raise RequestRefused(403, "role", said)
    if request.method in SAFE:
        request.state.seq = await newest(app)
        return
    form, files = await read_form_and_files(request, int(app.settings.send.max_files_mb * MB))
    if not is_form_token(app, session, form.get("form_token", "")):
        raise RequestRefused(403, "form_foreign", "this form is not of your session: go back, reload, and try again")
    request.state.form, request.state.files = form, files


def _storable(request: Request) -> None:
    for name, value in (*request.path_params.items(), *request.query_params.multi_items()):
        if not is_storable(f"{name}{value}"):
            raise RequestRefused(422, "invalid", "the address holds a character that cannot be looked up")


def _answer(site: Site, request: Request, error: Exception) -> Response:
    """An error as a page. What nobody foresaw is logged, and says nothing of itself."""
    if isinstance(error, SignInNeeded):
        return site.page(request, "signed_out.html", 401, used=False, wrong="", email="", empty=error.empty)
    if isinstance(error, RequestRefused):
        return site.problem(request, error.status, str(error))
    if isinstance(error, RequestValidationError):
        return site.problem(request, 404, "There is no such page: the address is not one of ours.")
    if isinstance(error, BadCursor):
        return site.problem(request, 400, "This address does not lead to a page of the list: begin at its first page.")
    if isinstance(error, PASSING):
        log.warning("page postponed", path=request.url.path, error=repr(error))
        said = str(error) if isinstance(error, Temporary) else "The database does not answer. Try again in a moment."
        return site.problem(request, 503, said)
    log.error("page failed", path=request.url.path, error=repr(error))
    return site.problem(request, 500, "The fault is ours, and it is in the log. Try again.")
