"""The texts that code records as reasons, and how one of them is said in the reader's language when it is shown.

What is stored stays as it was recorded, in English, the same for all readers, for the API and the command line.
Where code filled in a value, a text has a `%(name)s`, and the value is said in the reader's language where it is such a
text itself. What a person, a model or a server wrote is none of these, and stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from services.web.console.language import Message, translated

VALUE = re.compile(r"%\((\w+)\)s")
LONGEST = 500  # characters of a reason: what is longer was written by nobody here

RECORDED: Mapping[str, tuple[Message, ...]] = MappingProxyType(
    {
        "verdicts of mail": (
            Message("Auto-Submitted: %(value)s"),
            Message("header %(name)s"),
            Message("subject “%(text)s”"),
            Message("a robot's words before the subject"),
            Message("it answers ours within 15 s, sooner than anyone reads a mail"),
            Message("a bounce (%(kind)s) that names a mail of ours, unproven"),
            Message("a bounce that names no mail we sent"),
            Message("a calendar's reply"),
            Message("a calendar's reply (%(answer)s)"),
            Message("%(what)s with a comment"),
            Message("a challenge that asks us to confirm our mail"),
            Message("a colleague wrote it, and it answers no thread that is known"),
            Message("a colleague wrote it, and sent us a copy"),
            Message("a colleague wrote it: it lay in our Sent folder"),
            Message("a complaint that names no mail we sent"),
            Message("a mail system sent it"),
            Message("a program sent it in our name"),
            Message("a receipt (%(what)s)"),
            Message("delivered"),
            Message("a recipient marked our mail as spam"),
            Message("already received as %(mail)s"),
            Message("an alert of ours could not be delivered: %(reason)s"),
            Message("an automatic reply: %(sign)s"),
            Message("perhaps an automatic reply: %(sign)s"),
            Message("an automatic responder sent it (%(header)s)"),
            Message("it answers an alert that we sent to a colleague"),
            Message("it came through a list (%(header)s)"),
            Message("it comes from our own address %(address)s"),
            Message("it is bulk mail (Precedence)"),
            Message("it is empty"),
            Message("it is encrypted (PGP)"),
            Message("it is encrypted (S/MIME)"),
            Message("it is signed in a form that has to be opened first (S/MIME)"),
            Message("its attachment %(name)s is encrypted"),
            Message("it passes on a delivery failure"),
            Message("it says that a mail of ours could not be delivered, and nothing proves that"),
            Message("it says that a recipient marked our mail as spam, and nothing proves that"),
            Message("its Message-ID is one that we sent"),
            Message("its sender asks for no automatic response"),
            Message("the return path is null"),
            Message("marked as spam (%(header)s)"),
            Message("rspamd: %(action)s (score %(score)s)"),
            Message("nobody could say whether it is spam"),
            Message("more than %(count)s mails in this thread within an hour"),
            Message("more than %(count)s mails of this sender's company within an hour"),
            Message("more than %(count)s mails of this %(who)s sender within an hour"),
            Message("more than %(count)s mails of %(who)s senders within an hour: the breaker is open"),
            Message("proven"),
            Message("unproven"),
            Message("%(count)s replies of ours to this %(who)s sender within a day"),
            Message("%(count)s automatic replies and no person yet"),
            Message("%(count)s earlier mails had the same body"),
            Message("%(count)s addresses in From: nobody to answer for certain"),
            Message("%(address)s is not read by a person"),
            Message("%(reason)s, but it asks to be answered at %(address)s"),
            Message("no filter objects"),
            Message("nothing proves that the sender is who they say"),
            Message("the sender's domain says that this mail is not its own"),
            Message("the sender's domain says that this mail is not its own: a person decides"),
            Message("they ask for a person"),
            Message("they unsubscribe from mail that we begin"),
            Message("they have unsubscribed from such mail"),
            Message("they are at risk, lost or with a person by now"),
            Message("l= leaves a part of the body unsigned"),
            Message("no usable key"),
            Message("rsa-sha1 is retired (RFC 8301)"),
            Message("wrong signature"),
            Message("our mail could not be delivered (%(kind)s)"),
        ),
        "attachments that were not read": (
            Message("encrypted"),
            Message("cannot be opened (%(error)s)"),
            Message("only the first %(count)s characters are kept"),
            Message("takes longer than %(seconds)s s"),
            Message("takes more than it may (the reader ended with status %(status)s)"),
            Message("our reader failed (%(error)s)"),
            Message("what it hides from its reader is left out"),
            Message("%(kind)s holds no text"),
            Message("%(kind)s is not read"),
        ),
        "the place of a mail": (
            Message("its author is proven now"),
            Message("its sender is %(level)s"),
            Message("its subject changed"),
            Message("long after it was closed"),
            Message("nothing it answers is known"),
            Message("reply token"),
            Message("somebody else's thread"),
        ),
        "turns of a thread": (
            Message("a colleague answered"),
            Message("a mail of this thread waits for an answer"),
            Message("a newer mail came"),
            Message("a person has the thread: the text is a note there"),
            Message("a person resolved the thread"),
            Message("a reply by %(name)s is on its way"),
            Message("a reply is on its way in this thread"),
            Message("an incident that they reported is over"),
            Message("another mail still waits"),
            Message("behaviour %(name)s"),
            Message("behaviour %(name)s: %(reason)s"),
            Message("from %(state)s a thread can only become %(states)s"),
            Message("missed a deadline: %(reason)s"),
            Message("no mail of theirs in this thread is proven to be theirs"),
            Message("no mail of this thread can be answered"),
            Message("no reply was needed"),
            Message("nobody knows whether reply %(reply)s was sent: settle it first"),
            Message("not promised at priority %(priority)s"),
            Message("priority %(priority)s"),
            Message("promised at priority %(priority)s"),
            Message("nothing proves who wrote, and the agent would not answer: %(reason)s"),
            Message("only a human hands an escalated thread back, to in_progress; nothing else leaves it"),
            Message("our mail came back"),
            Message("taken up again"),
            Message("the agent's reply is at the mail server already"),
            Message("the customer wrote"),
            Message("the reader complained about our mail"),
            Message("the reply could not be sent"),
            Message("the reply may or may not have been sent"),
            Message("the thread is %(state)s"),
            Message("the thread is %(state)s already"),
            Message("the thread was escalated to a human"),
            Message("the time is over"),
            Message("the turn is no longer open"),
            Message("the wait for the customer is over"),
            Message("the %(what)s was due within %(hours)s h (priority %(priority)s)"),
            Message("%(what)s, at %(at)s UTC"),
            Message("there is no such thread"),
            Message("waiting for the customer"),
            Message("we answered"),
            Message("%(reason)s (late)"),
            Message("%(name)s answered"),
            Message("%(name)s answered and keeps the thread"),
            Message("%(name)s answers"),
            Message("%(name)s asks %(other)s to look, in a note"),
            Message("%(processor)s gave up: %(error)s"),
            Message("the failed turn is tried again: %(error)s"),
            Message("%(name)s rejected it: %(reason)s"),
            Message("%(name)s took the thread over"),
            Message("%(name)s took the thread over: %(reason)s"),
            Message("1 message has come since you looked"),
            Message("%(count)s messages have come since you looked"),
            Message("a mail for a person came"),
            Message("imported as history"),
            Message("no answer from the customer"),
            Message("resolved for long enough"),
            Message("the agent took up the mail"),
            Message("the customer wrote again"),
            Message("the customer wrote again after the thread was closed"),
            Message("the reply was sent"),
        ),
        "approval": (
            Message("its text would differ from the one that was shown: settings have changed"),
            Message("it breaks a floor: %(rule)s"),
            Message("its intent is open, but it breaks a floor: %(rule)s"),
            Message("its intent is open, but its score is %(score)s"),
            Message("%(reason)s; the agent hands over: %(handover)s"),
            Message("%(count)s of the last %(all)s approved unchanged, lower bound %(bound)s"),
            Message("%(told)s, %(bound)s asked for"),
            Message("a person approves each reply"),
            Message("a person words each reply: approve it with your own text, or answer yourself"),
        ),
        "facts": (
            Message("a correction needs a value"),
            Message("a fact needs a key and a value"),
            Message("a fact that it is derived from is not believed"),
            Message("a newer mail seems to confirm another value: %(value)s"),
            Message("a newer mail seems to give a new one: %(key)s = %(value)s"),
            Message("a newer mail seems to say otherwise: %(value)s"),
            Message("a newer mail seems to say that it is so no more"),
            Message("a person here said otherwise"),
            Message("a person here took this back since"),
            Message("another mailbox said it, whose mails were kept under this one's id"),
            Message("it cannot be decided: %(error)s"),
            Message("it has ended"),
            Message("it is not believed any more: it can only be forgotten"),
            Message("it is shown as %(fact)s: name that one, or undo the merge first"),
            Message("it was taken back already"),
            Message("its own mail says so: %(value)s"),
            Message("nothing was merged into this fact"),
            Message("only we can take this back"),
            Message("our own words do not corroborate"),
            Message("our own words say nothing of a customer"),
            Message("says the same in other words (similarity %(number)s): %(value)s"),
            Message("says the same under another name of its key: %(key)s = %(value)s"),
            Message("the customer took it back"),
            Message("the mail only passes on what somebody wrote"),
            Message("the newer value replaces the older"),
            Message("the quote does not stand in the cited mail"),
            Message("the quote stands in no mail of this turn"),
            Message("the sender is not authenticated"),
            Message("the words ask, and say nothing of it"),
            Message("the words do not say plainly that it is theirs"),
            Message("the words do not say %(words)s"),
            Message("the words leave this value for another one"),
            Message("the words mock, and are not meant"),
            Message("the words only suppose it"),
            Message("the words repeat what somebody else says"),
            Message("the words say that it is not so"),
            Message("the words speak of somebody else"),
            Message("the words tell of a change, and not of this value"),
            Message("the words tell of a part, or of what comes on top"),
            Message("the words tell of a while, and not of what holds"),
            Message("the words tell of former times"),
            Message("the words tell of what the author saw or tried, and not of what is theirs"),
            Message("the words tell of what is still to come"),
            Message("the words that are cited for it tell of something else, and not of this value"),
            Message("the words wish for it: it is not so yet"),
            Message("there is no such fact"),
            Message("there is no such participant"),
            Message("there is no kind of facts %(kind)s: %(kinds)s"),
            Message("what had replaced it was taken back"),
            Message("what it had replaced holds again"),
            Message("what stands is newer"),
            Message("what stands is %(value)s"),
            Message("what stands was said in so many words"),
            Message("%(reason)s: %(value)s"),
            Message("%(name)s corrected it"),
            Message("%(name)s took it back"),
            Message("%(name)s undid the merge: %(value)s had ended"),
            Message("%(value)s stands under that key"),
            Message("%(reason)s: the same value"),
            Message("%(reason)s; %(consequence)s"),
        ),
        "people and their briefs": (
            Message("a brief has at most %(count)s words (learning.brief_words)"),
            Message("a brief needs words; delete it instead"),
            Message("it was written again since: look at it as it is now"),
            Message("it was written from a brief that was taken back meanwhile"),
            Message("there is no brief"),
            Message("nobody is merged with themselves"),
            Message("the participant is merged into %(other)s"),
            Message("the participant is merged into %(other)s; take them apart first"),
            Message("they are known in two spaces of memory, and what one knows the other never does"),
            Message("they are not merged"),
            Message("they are one person already"),
        ),
        "knowledge": (
            Message("no such article is proposed"),
            Message("the answer is too short to teach anybody"),
            Message("there is no such answer"),
            Message("the text is another than the one that was seen"),
            Message("there is no such document, or it was removed before"),
            Message("it was %(state)s before"),
        ),
        "investigations": (
            Message("investigations are off: set investigate.enabled"),
            Message("nobody proven wrote in this thread: of whom nothing proves, nothing is known"),
            Message("it was not over after %(count)s rounds (investigate.rounds)"),
            Message("its calls took %(count)s tokens (investigate.tokens)"),
            Message("%(name)s stopped it"),
            Message("%(count)s investigations of this person are open (investigate.at_once)"),
        ),
        "webhooks and incidents": (
            Message("it answers %(answer)s: nothing is wanted there any more"),
            Message("it has taken nothing for %(days)s days; the last attempt: %(answer)s"),
            Message("what it is about can no longer be read: somebody was erased, or it is in the archive"),
            Message("%(answer)s, and a redirect is not followed: register the final address"),
            Message(
                "the webhook endpoint at %(host)s was disabled: %(reason)s; `correspondent webhooks list` shows it"
            ),
            Message("%(count)s customers report it again since it was closed"),
            Message("%(count)s customers report the same issue since %(at)s UTC"),
        ),
        "deliveries": (
            Message("found in the Sent folder"),
            Message("given up after days: %(error)s"),
            Message("given up after %(days)s days: %(error)s"),
            Message("somebody who wrote in the thread was erased"),
            Message("the office is closed: mail that nobody asked for leaves when it opens"),
            Message("the sender stopped between the intent and the server's answer"),
            Message("waits %(seconds)s s, so that it can be taken back"),
            Message("%(name)s says that it was %(state)s"),
            Message("not sent"),
            Message("%(inbox)s sends at most %(count)s replies an hour"),
            Message("%(count)s passages"),
            Message("%(count)s facts, %(messages)s messages"),
        ),
        "restores and persons": (
            Message("a former customer writes again"),
            Message("another message says so: confidence %(number)s"),
            Message("cannot be read (%(error)s)"),
            Message("takes more memory than it may"),
            Message("from %(state)s one can only become %(states)s"),
            Message("there is no state %(state)s"),
            Message("only a person here makes somebody %(state)s"),
            Message("older than what is known"),
            Message("the mail shows it: %(intent)s"),
            Message("its text is not kept any more"),
            Message("restored from a backup: what was sent after it is not known here"),
            Message("the connection breaks whenever this mail is fetched"),
            Message("the server shows no content"),
            Message("draft refused"),
            Message("%(name)s undid it"),
        ),
    }
)
TEXTS: tuple[Message, ...] = tuple(one for some in RECORDED.values() for one in some)
PLAIN: Mapping[str, Message] = MappingProxyType({one: one for one in TEXTS if "%(" not in one})


@dataclass(frozen=True, slots=True)
class Form:
    """A text with values, and how what was recorded in it is told from others."""

    text: Message
    shape: re.Pattern[str]
    words: str  # what is the same each time

    @classmethod
    def of(cls, text: Message) -> Form:
        """Its literal parts as they are, and a bounded group for each value."""
        parts = VALUE.split(text)
        shape = "".join(f"(?P<{one}>.{{1,300}}?)" if at % 2 else re.escape(one) for at, one in enumerate(parts))
        return cls(text, re.compile(shape, re.DOTALL), "".join(parts[::2]))

    @property
    def has_words(self) -> bool:
        """Whether it is told by more than its points: one that is not counts only around a text that is known."""
        return any(one.isalpha() for one in self.words)


def forms_of(texts: Iterable[Message]) -> tuple[Form, ...]:
    """Those of the texts that have values, the most telling first."""
    return tuple(sorted((Form.of(one) for one in texts if "%(" in one), key=lambda one: -len(one.words)))


FORMS: tuple[Form, ...] = forms_of(TEXTS)


def said(
    recorded: str,
    part: Callable[[str], str],
    *,
    plain: Mapping[str, Message] = PLAIN,
    forms: Sequence[Form] = FORMS,
) -> str | None:
    """A recorded text in the reader's language, None where no code recorded it; `part` says a value of it.

    Of the forms that it may have ("Grace: we answered"), the one that leaves the least as it was recorded.
    """
    if recorded in plain:
        return str(plain[recorded])
    if len(recorded) > LONGEST:
        return None
    found = [one for form in forms if (one := _said_as(form, recorded, part))]
    return min(found, key=lambda one: one[0])[1] if found else None


def _said_as(form: Form, recorded: str, part: Callable[[str], str]) -> tuple[int, str] | None:
    """How many characters of the values stay as they are, and the text; None where it has not this form."""
    shape = form.shape.fullmatch(recorded)
    if shape is None:
        return None
    values = {name: (value, part(value)) for name, value in shape.groupdict().items()}
    if not form.has_words and all(was == now for was, now in values.values()):
        return None
    left = sum(len(was) for was, now in values.values() if was == now)
    return left, translated(form.text, **{name: now for name, (_, now) in values.items()})
