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
from services.core.keys import Erased
from services.core.paging import BadCursor
from services.core.request_limits import Pace
from services.core.storable import is_storable
from services.core.units import MB
from services.core.web import RequestRefused
from services.operations.idle import newest
from services.operations.sign_in import Session, session_of
from services.operations.trials import Trials
from services.operations.users import Role, User, is_empty, with_password
from services.operations.users.audit import note
from services.operations.users.keys import keys_of
from services.web.console import language, shown
from services.web.console.forms import Files, Form, read_form_and_files
from services.web.console.keys import ACTS, by_key
from services.web.console.language import Message, script_texts, translated
from services.web.console.sessions import form_token, is_form_token, token_in

log = structlog.get_logger(__name__)

ROOT = "/console"
HERE = Path(__file__).parent
SAFE = frozenset({"GET", "HEAD"})
GUESSES_PER_MINUTE = 6  # at the password of one user who is signed in
NOT_YOURS = Message("This is not your password.")
FOREIGN = Message("this form is not of your session: go back, reload, and try again")
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
DONE: Mapping[str, Message] = MappingProxyType(  # what an address may say was done: words of ours, never of the address
    {
        "moved": Message("The thread's state was changed."),
        "noted": Message("The note was added."),
        "replied": Message("Your reply is on its way."),
        "taken_back": Message("Your reply was taken back. Nothing left, and the thread is yours."),
        "taken": Message("You have the thread. The agent writes nothing in it until you hand it back."),
        "assigned": Message("The thread was assigned."),
        "assigned_all": Message("The threads were assigned."),
        "resolved": Message("The threads were resolved."),
        "view_saved": Message("The view is kept: you find it above the list."),
        "view_forgotten": Message("The view is kept no longer."),
        "snoozed": Message("The thread is snoozed. It comes back at that moment, or sooner if the customer writes."),
        "snoozed_all": Message(
            "The threads are snoozed. Each comes back at that moment, or sooner if its customer writes."
        ),
        "woken": Message("The thread is on the list again."),
        "approved": Message("Approved. The reply is on its way."),
        "rejected": Message("The draft was rejected."),
        "corrected": Message("The fact was corrected."),
        "pinned": Message("The fact is pinned."),
        "unpinned": Message("The fact is not pinned any more."),
        "forgotten": Message("The fact was forgotten."),
        "restored": Message("Brought back. What came since is forgotten, and what was gone holds again."),
        "restoring": Message("Confirmed. It goes on by itself, person by person."),
        "restore_stopped": Message("Stopped. Nobody else is brought back."),
        "brief": Message("The brief was written."),
        "merged": Message("They are one person now: whoever reads one of them reads both."),
        "unmerged": Message("Each is again what was learned under their own address."),
        "erased": Message("Erased. What was held of this person cannot be read any more."),
        "pending": Message("Your request is stored. It has not been decided yet; reload this page in a moment."),
        "added": Message("Added. The agent finds it from now on."),
        "same": Message("Nothing changed: it stands like this already."),
        "document_removed": Message("Removed. The agent finds it no more."),
        "accepted": Message("The article is part of the knowledge base."),
        "article_proposed": Message("The article is proposed. Read it here before you add it."),
        "article_rejected": Message("The article was rejected, and is not proposed again."),
        "closed": Message(
            "The incident is closed. Drafts of the answer, if there is one, wait for approval in a moment."
        ),
        "reopened": Message("The incident is open again."),
        "investigation_stopped": Message("Stopped. It takes no further round; what it wrote by then is below."),
        "proposal_accepted": Message("Accepted: it is your own change of memory now."),
        "proposal_rejected": Message("The proposal was rejected. Nothing changed."),
        "redriven": Message("The dead letter was handled."),
        "discarded": Message("The dead letter was discarded."),
        "team_added": Message("The team is there. Threads can be assigned to it, and its members have its queue."),
        "team_changed": Message("The team was changed."),
        "team_removed": Message("The team was removed."),
        "signed_out": Message("You are signed out."),
        "role": Message("The role was changed."),
        "removed": Message("Removed. Whoever it was is out from now on."),
        "password": Message("Your password was changed, and your other sessions have ended."),
        "factor_on": Message("From now on a code of your app is asked for when you sign in."),
        "factor_off": Message("No code is asked for any more."),
        "settings_changed": Message("Stored. Every process takes it on within seconds."),
        "endpoint_changed": Message("Saved. The next webhook goes by it."),
        "endpoint_paused": Message("Paused. It is told nothing; what waits goes on waiting."),
        "endpoint_resumed": Message("Resumed. It is told what happens from now on, and gets what waited."),
        "endpoint_removed": Message("Removed. The endpoint is told nothing more."),
        "webhook_taken": Message("Delivered: the endpoint took it."),
        "webhook_refused": Message("Not delivered. The list below says why."),
        "webhook_waits": Message("Not delivered yet. The list below says what came of it so far."),
        "revoked": Message("The token is worth nothing any more."),
        "linked": Message("From now on the account signs you in."),
        "unlinked": Message("No account signs you in any more. Your password, or a link, does."),
        "guide_closed": Message("The guide is put away. ⌘K or Ctrl-K, “First steps”, shows it again."),
        "guide_open": Message("The guide is on top of the inbox again, until a first mail is answered."),
        "thumb": Message("Thank you. Quality counts it."),
        "keys": Message("These are your keys from now on. The list of keys has them, too."),
        "language": Message("From now on the console is in this language."),
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
    """The console of one deployment; `trials` are those that its process counts, for the API too."""

    def __init__(self, app: App, trials: Trials | None = None) -> None:
        self.app = app
        self.trials = trials or Trials(app)
        self._guesses = Pace(GUESSES_PER_MINUTE)

    @cached_property
    def _templates(self) -> Environment:
        found = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            extensions=["jinja2.ext.i18n"],
            bytecode_cache=_compiled(),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        found.install_gettext_callables(language.translated, language.plural, newstyle=True)  # type: ignore[attr-defined]
        ago, ahead = shown.ages(self.app.now)
        found.filters |= {
            "line": shown.line,
            "body": shown.body,
            "moment": shown.moment,
            "date": language.moment_of,
            "day": language.date_of,
            "month": language.month_of,
            "decimal": language.decimal,
            "ago": ago,
            "ahead": ahead,
            "web_address": shown.web_address,
            "words": shown.words,
            "known": shown.known,
            "state": shown.state,
            "query": urlencode,
            "segment": lambda text: quote(str(text), safe=""),
        }
        found.globals |= {
            "ROOT": ROOT,
            "REJECTIONS": shown.REJECTIONS,
            "YES_NO": shown.YES_NO,
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
            "keys": [(key, ACTS[act]) for act, key in keys_of(session.user).items()] if session else [],
            "acts_by_key": by_key(session.user) if session else "",
            "may": session.user.may if session else _nothing,
            "seq": getattr(request.state, "seq", 0),
            "path": request.url.path,
            "language": language.spoken(),
            "texts": script_texts(),
            "done": DONE.get(request.query_params.get("done", ""), ""),
            "onward": request.url.path if request.method in SAFE else "",
            "refused": "",
        }
        return HTMLResponse(self._templates.get_template(template).render(about | given), status)

    def problem(self, request: Request, status: int, message: str) -> HTMLResponse:
        """What went wrong, and what to do, as a page."""
        return self.page(request, "problem.html", status, code=status, message=message)

    async def ask_password(self, request: Request) -> None:
        """Have a form's field `now` hold the password of whoever sends it: for what a stolen session is not to do.

        Who has no password is not asked. Raises `RequestRefused`.
        """
        user = user_in(request)
        if not user.has_password:
            return
        if wait := self._guesses.takes(str(user.user_id)):
            raise RequestRefused(429, "too_many", shown.too_many(wait))
        if await with_password(self.app, user.email, form_of(request).get("now", "")) is None:
            raise RequestRefused(422, "password_wrong", str(NOT_YOURS))

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


def done(path: str, what: str, fragment: str = "", **of: str) -> RedirectResponse:
    """After an act: look at a page, `of` which its address asks, which says what was done."""
    asked = urlencode({name: value for name, value in of.items() if value} | {"done": what})
    return RedirectResponse(f"{ROOT}{path}?{asked}{f'#{fragment}' if fragment else ''}", 303)


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
                language.speak(language.asked_for(request.headers.get("accept-language", "")))
                try:
                    _refuse_other_sites(request)
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


def _refuse_other_sites(request: Request) -> None:
    """A page of another site sends no form here: one without a session could sign a browser in as somebody else."""
    if request.method not in SAFE and request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise RequestRefused(403, "form_foreign", str(FOREIGN))


async def _admit(app: App, request: Request, role: Role) -> None:
    """Let the request on where it is of a session whose user has the role, and a form of that session. Raises what is
    answered otherwise.
    """
    _storable(request)
    session = await session_of(app, token_in(request))
    if session is None:
        raise SignInNeeded(await is_empty(app))
    request.state.session = session
    if session.user.language:
        language.speak(session.user.language)
    if not session.user.may(role):
        roles = {"role": shown.words(role), "yours": shown.words(session.user.role)}
        said = translated("This needs the role %(role)s, and yours is %(yours)s. An admin can change it.", **roles)
        raise RequestRefused(403, "role", said)
    if request.method in SAFE:
        request.state.seq = await newest(app)
        return
    form, files = await read_form_and_files(request, int(app.settings.send.max_files_mb * MB))
    if not is_form_token(app, session, form.get("form_token", "")):
        raise RequestRefused(403, "form_foreign", str(FOREIGN))
    request.state.form, request.state.files = form, files


def _storable(request: Request) -> None:
    for name, value in (*request.path_params.items(), *request.query_params.multi_items()):
        if not is_storable(f"{name}{value}"):
            said = translated("the address holds a character that cannot be looked up")
            raise RequestRefused(422, "invalid", said)


def _answer(site: Site, request: Request, error: Exception) -> Response:
    """An error as a page. What nobody foresaw is logged, and says nothing of itself."""
    if isinstance(error, SignInNeeded):
        return site.page(request, "signed_out.html", 401, used=False, wrong="", email="", empty=error.empty)
    if isinstance(error, RequestRefused):
        return site.problem(request, error.status, str(error))
    if isinstance(error, RequestValidationError):
        return site.problem(request, 404, translated("There is no such page: the address is not one of ours."))
    if isinstance(error, BadCursor):
        said = translated("This address does not lead to a page of the list: begin at its first page.")
        return site.problem(request, 400, said)
    if isinstance(error, Erased):  # since the page was read
        return site.problem(request, 404, translated("Erased. What was held of this person cannot be read any more."))
    if isinstance(error, PASSING):
        log.warning("page postponed", path=request.url.path, error=repr(error))
        silent = translated("The database does not answer. Try again in a moment.")
        return site.problem(request, 503, str(error) if isinstance(error, Temporary) else silent)
    log.error("page failed", path=request.url.path, error=repr(error))
    return site.problem(request, 500, translated("The fault is ours, and it is in the log. Try again."))
