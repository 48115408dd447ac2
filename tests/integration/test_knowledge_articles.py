"""Articles from what people answered: proposed without personal data, accepted, edited or rejected by a person alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events.documents import ArticleRequested, ProposalDecided
from schemas.events.replies import ReplyDrafted, ReplySent
from services import learn_documents, learn_facts, read_email, track_threads
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.ids import article_id, text_sha256
from services.operations.knowledge.listing import find_passages, last_answer, list_documents, list_proposals, proposal
from services.operations.knowledge.requests import became
from services.operations.requests import ask
from services.receive_email.accept import accept
from tests.support.remembering import ADA, Memory, remembering

ALL = (read_email.PROCESSOR, track_threads.PROCESSOR, learn_facts.PROCESSOR, learn_documents.PROCESSOR)
QUESTION = "Hello, order A-1001 arrived broken. How do I send it back?\n\nAda Lovelace"
ANSWER = (
    "Hi Ada,\n\nput order A-1001 back into its box, write the return number on it, and hand it to any parcel shop; "
    "we pay for it. Ask me at mia@ourcompany.example.\n\nBest regards,\nMia Stone"
)


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def asked(memory: Memory) -> dict[str, Any]:
    """A customer's question, as read."""
    mail = await memory.mail(QUESTION, on=1, sender=f"Ada Lovelace <{ADA}>")
    await memory.settle(ALL)
    return mail


async def by_hand(memory: Memory, mail: dict[str, Any], text: str = ANSWER, **given: Any) -> None:
    """A colleague's answer, found in the Sent folder."""
    reply = EmailMessage()
    reply["From"], reply["To"], reply["Subject"] = "Mia Stone <support@ourcompany.example>", ADA, "Re: Broken"
    reply["Message-ID"], reply["In-Reply-To"] = f"<{random_id()}@laptop.local>", f"<{mail['message_id']}>"
    reply.set_content(text)
    inbox = memory.app.settings.inboxes[0]
    raw, key = reply.as_bytes(), str(random_id())
    await accept(memory.app, inbox, raw, source="imap", source_key=key, from_sent=True, **given)
    await memory.settle(ALL)


async def sent(memory: Memory, mail: dict[str, Any], drafted: str, went: str) -> UUID:
    """A reply of the agent's that was sent with these words."""
    ids = {"reply_id": random_id(), "turn_id": random_id(), "thread_id": mail["thread_id"]}
    draft = {"participant_id": None, "inbox": "support", "mail_ids": (mail["mail_id"],), "trusted": True}
    await enter(memory.app, memory.event(ReplyDrafted(**ids, **draft, decision="reply", text=drafted), memory.clock()))
    await enter(memory.app, memory.event(ReplySent(**ids, attempt=1, text=went), memory.clock()))
    await memory.settle(ALL)
    return ids["reply_id"]


async def decide(memory: Memory, document_id: UUID, saw: str, **given: Any) -> str:
    """A person's word; what became of it."""
    word = ProposalDecided(document_id=document_id, text_sha256=text_sha256(saw), by="grace", **given)
    command = (await ask(memory.app, word)).id
    await memory.settle(ALL)
    (one,) = await became(memory.app, [command])
    return f"{one.decision}: {one.detail}" if one.detail else one.decision


async def test_a_colleagues_answer_is_proposed_without_the_people_in_it(memory: Memory) -> None:
    """It is found by nobody until a person accepts it; no name, address or order number is kept anywhere in it."""
    await by_hand(memory, await asked(memory))
    (one,) = await list_proposals(memory.app)
    assert (one.state, one.source) == ("proposed", "colleague")
    assert "*How do I send it back?*" in one.text
    assert "hand it to any parcel shop" in one.text
    kept = await memory.rows("SELECT data::text AS data FROM events WHERE topic = 'document-events'")
    for word in ("Ada", "Lovelace", "A-1001", "Mia", "mia@", ADA):
        assert word not in one.text
        assert not [row for row in kept if word in row["data"]]
    assert await list_documents(memory.app) == []
    assert await find_passages(memory.app, "send back a broken order", limit=3) == []


async def test_an_accepted_article_is_a_document(memory: Memory) -> None:
    """As it is or in the person's own words; a second word on it, and one about another text, are refused."""
    await by_hand(memory, await asked(memory))
    (one,) = await list_proposals(memory.app)
    assert await decide(memory, one.document_id, "another text", accept=True) == (
        "refused: the text is another than the one that was seen"
    )
    own = "# Returns\n\nAny parcel shop takes it back; we pay."
    assert await decide(memory, one.document_id, one.text, accept=True, text=own) == "indexed"
    assert await decide(memory, one.document_id, one.text, accept=False) == "refused: it was accepted before"
    (found,) = await find_passages(memory.app, "Which shop takes it back?", limit=3)
    assert (found.title, found.text) == ("Returns", "Any parcel shop takes it back; we pay.")
    assert await list_proposals(memory.app) == []


async def test_a_rejected_article_is_not_proposed_again(memory: Memory) -> None:
    """Not by the same mail read once more, and not on request."""
    mail = await asked(memory)
    await by_hand(memory, mail)
    (one,) = await list_proposals(memory.app)
    assert await decide(memory, one.document_id, one.text, accept=False, reason="said elsewhere") == (
        "rejected: said elsewhere"
    )
    command = ArticleRequested(
        document_id=one.document_id, thread_id=mail["thread_id"], reply_id=one.reply_id, by="grace"
    )
    await ask(memory.app, command)
    await memory.settle(ALL)
    found = await proposal(memory.app, one.document_id)
    assert found is not None
    assert found.state == "rejected"
    assert await list_documents(memory.app) == []


async def test_a_draft_sent_in_a_persons_own_words_is_proposed_and_the_agents_own_is_not(memory: Memory) -> None:
    """What the agent wrote teaches nothing new: our own words are not fed back by themselves."""
    mail = await asked(memory)
    await sent(memory, mail, ANSWER, ANSWER)
    assert await list_proposals(memory.app) == []
    reply = await sent(memory, mail, "I do not know.", ANSWER)
    (one,) = await list_proposals(memory.app)
    assert (one.reply_id, one.source) == (reply, "own wording")


async def test_a_person_may_ask_for_an_article_of_any_answer(memory: Memory) -> None:
    """The agent's answer in a settled thread becomes one on request; an answer that is not there is refused."""
    mail = await asked(memory)
    assert await last_answer(memory.app, mail["thread_id"]) is None
    reply = await sent(memory, mail, ANSWER, ANSWER)
    assert await last_answer(memory.app, mail["thread_id"]) == reply
    id = article_id(memory.workspace, mail["thread_id"], reply)
    await ask(memory.app, ArticleRequested(document_id=id, thread_id=mail["thread_id"], reply_id=reply, by="grace"))
    nothing = ArticleRequested(document_id=random_id(), thread_id=mail["thread_id"], reply_id=random_id(), by="grace")
    command = (await ask(memory.app, nothing)).id
    await memory.settle(ALL)
    (one,) = await list_proposals(memory.app)
    assert (one.document_id, one.source) == (id, "asked for by grace")
    assert [(out.decision, out.detail) for out in await became(memory.app, [command])] == [
        ("refused", "there is no such answer")
    ]


async def test_history_and_short_words_propose_nothing(memory: Memory) -> None:
    """Old mail is not turned into hundreds of articles, and thanks are none."""
    mail = await asked(memory)
    await by_hand(memory, mail, mode="history")
    await by_hand(memory, mail, "Hi Ada,\n\ndone!\n\nMia")
    assert await list_proposals(memory.app, "") == []
