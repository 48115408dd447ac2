"""The three answers of memory, from the mail's question through the context on the log to the sent reply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deploy.local import Endpoints
from services.core.app import App
from services.receive_email.accept import accept
from tests.flow.scenario import AUTHSERV, replies_to, rows, until_mails, verified
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless

DOMAIN = "recall.example"
JOHN = "john@asker.example"

TOLD = "Hello,\n\nwe are on the Enterprise plan. We have 40 users. The export of our invoices fails every Monday."
SURE = "Which plan are we on?"
FUZZY = "What was the trouble with our bills at the start of the week?"
EARLIER = "Which plan were we on last year?"
NEVER = "Did I tell you the name of my dog?"


async def write(app: App, number: int, text: str) -> None:
    """A mail of John's that opens a thread of its own."""
    sender = f"John Miller <{JOHN}>"
    raw = verified(
        f"{text}\n\nJohn", sender=sender, subject=f"Question {number}", message_id=f"<{number}@asker.example>"
    )
    await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
    await until_mails(app, number)


def answer_to(question: str, loaded: list[dict[str, Any]]) -> dict[str, Any]:
    """What the context says that memory answers to a question, as data and as `line`."""
    layers = [layer for row in loaded for layer in row["data"]["layers"] if layer["name"] == "participant"]
    ((item, layer),) = [
        (item, layer) for layer in layers for item in layer["items"] if item.get("question") == question
    ]
    (line,) = [line for line in layer["text"].splitlines() if line.startswith(f'- asked "{question}"')]
    facts = [item for item in layer["items"] if item.get("id")]
    return {**item, "line": line.partition('": ')[2], "facts": facts}


async def test_a_clear_a_fuzzy_and_an_unheard_question_are_told_apart(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """What was said is sure; what is vaguely like it, or of another time, is asked back; the rest is said to be nothing."""
    inboxes = [{"name": "support", "address": f"support@{DOMAIN}"}]
    settings = settings_for(stack, database, topic_prefix, tmp_path, own_authserv_ids=[AUTHSERV], inboxes=inboxes)
    async with running_brokerless(settings) as app:
        for number, text in enumerate((TOLD, SURE, FUZZY, EARLIER, NEVER), start=1):
            await write(app, number, text)
        loaded = await rows(app, "SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq")
    mails = [mail.get_body(("plain",)).get_content() for mail in replies_to(stack.outbox, JOHN, DOMAIN)]
    sure, fuzzy, earlier, never = (answer_to(one, loaded) for one in (SURE, FUZZY, EARLIER, NEVER))
    assert (sure["recall"], sure["gist"]) == ("sure", "John Miller is on the Enterprise plan.")
    assert sure["fact"] in [one["id"] for one in sure["facts"] if one["why"] == "asked for"]
    assert "you are on the Enterprise plan" in mails[1]
    assert fuzzy["recall"] == "rings a bell"
    assert "export of our invoices fails" in fuzzy["gist"]
    assert fuzzy["window"][0][:10] in fuzzy["line"]
    assert "To be confirmed" in fuzzy["line"]
    assert "I am not sure, but I have a note from" in mails[2]
    assert "Is that what you mean?" in mails[2]
    assert (earlier["recall"], earlier["gist"]) == ("rings a bell", sure["gist"])
    assert earlier["about"][0][:4] < earlier["window"][0][:4]
    assert "I am not sure, but I have a note from" in mails[3]
    assert (never["recall"], never["gist"]) == ("nothing", None)
    assert never["line"] == "no fact below clearly answers this"
    assert never["facts"]
    assert "I have nothing noted of this" in mails[4]


async def test_somebody_nobody_vouches_for_is_told_nothing(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Memory is not asked for an author who is not authenticated, whatever they ask, even where a model drafts for them."""
    inboxes = [{"name": "support", "address": f"support@{DOMAIN}", "unproven": "review"}]
    settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=inboxes)
    async with running_brokerless(settings) as app:
        await write(app, 1, SURE)
        loaded = await rows(app, "SELECT data FROM events WHERE type = 'memory.loaded.v1'")
    assert [layer["items"] for layer in loaded[0]["data"]["layers"] if layer["name"] == "participant"] == [[]]
