"""What a customer pastes or lists looks like an older mail, and is theirs: no word of it is ever cut."""

from __future__ import annotations

import pytest

from services.mail.reply_text import split_reply

OWN = {
    "a prompt of Python": "It fails:\n\n>>> import acme\n>>> acme.connect()\nTimeoutError\n\nWhat can I do?",
    "a prompt at the end": "This prints nothing, why?\n\n>>> import acme\n>>> acme.version()",
    "a prompt's loop": "See:\n\n>>> for x in y:\n...     print(x)\n...\n1\n\nIs that right?",
    "a prompt of a shell": "I ran:\n$ acme --help\n> foo\n$ acme run\nand it hung.",
    "a heredoc": "I run\ncat <<EOF > file\n> line one\n> EOF\nand get nothing.",
    "a prompt of Windows": "PS C:\\> acme run\nerror\nWhat now?",
    "a comparison": "We need all orders where\n> 500 euros\nand\n< 100 pieces.",
    "a comparison at the end": "Please list every part with a weight of\n\n> 500 g",
    "a list of needs": "Requirements:\n> 16 GB RAM\n> 500 GB disk\nDo you have such a laptop?",
    "a list behind angle brackets": "These are broken:\n\n> lamp\n> cable\n> chair",
    "a diff": "I changed:\n\n--- a/config.toml\n+++ b/config.toml\n@@ -1,3 +1,3 @@\n-port = 80\n+port = 8080",
    "a table": "| name | price |\n|------|-------|\n| lamp | 5 |\n\nIs this right?",
    "a table without its end": "Order:\n| lamp | 5\n| cable | 7\nthanks",
    "YAML": "My config is\n---\nname: acme\nport: 80",
    "two documents of YAML": "My config:\n\n---\nname: acme\n---\nname: other\n\nWhy is the second ignored?",
    "a rule of Markdown": "First question about invoice 1.\n\n---\n\nSecond question about invoice 2.",
    "a list below the mark": "I'd like to order:\n\n-- \n- 2 lamps\n- 3 cables",
    "a list of stars below the mark": "Please change these:\n-- \n* name\n* street",
    "a numbered list below the mark": "What I need:\n--\n1) a lamp\n2) a cable",
    "items behind two dashes": "I'd like to order\n-- 2 lamps\n-- 3 cables",
    "a separator in a sentence": "Your program writes\n-----Original Message-----\nabove every quote. How do I turn that off?",
    "a separator that is shown": "Subject lines are cut. I see this:\n\n-----Original Message-----\n\nPlease fix it.",
    "a head that is shown": "The form shows:\nFrom: a@b.example\nSent: 5 May 2026 10:00\nTo: c@d.example\nSubject: hi\n"
    "but nothing arrives. Why?",
    "a key": "-----BEGIN PGP PUBLIC KEY BLOCK-----\nabc\n-----END PGP PUBLIC KEY BLOCK-----\nIs my key right?",
    "a chat": "Anna> hello\nBot> how can I help\nAnna> cancel\nThe bot never cancelled it.",
    "what they wrote before": "I wrote last week:\n> please cancel my order\nNobody answered.",
}
HEAD = "From: Help <help@us.example>\nSent: Monday, 3 March 2026 10:00\nTo: Ann\nSubject: Order\n\nShall we cancel?"
OLDER = {
    "a quote below an attribution": "On Mon, 3 Mar 2026 at 10:00, Help <help@us.example> wrote:\n> Shall we cancel?",
    "a quote that nothing introduces": "> Shall we cancel?\n> Your shop",
    "quotes of three depths": "> Shall we cancel?\n>> Yes\n>>> No",
    "a separator with its head": f"-----Original Message-----\n{HEAD}",
    "a separator without a head": "-----Original Message-----\nShall we cancel your order 4711?\nYour shop",
}


@pytest.mark.parametrize("name", OWN)
def test_what_a_customer_shows_stays_new(name: str) -> None:
    """Prompts, comparisons, lists, patches, tables and separators that are spoken of are the writer's own words."""
    found = split_reply(OWN[name])
    assert (found.new.split(), found.quoted, found.signature) == (OWN[name].split(), "", "")


@pytest.mark.parametrize("name", OLDER)
def test_a_quote_is_still_one(name: str) -> None:
    """What mail programs write below an answer is quoted as before."""
    found = split_reply(f"Yes, please.\n\n{OLDER[name]}")
    assert (found.new, found.quoted) == ("Yes, please.", OLDER[name])


def test_own_words_are_found_in_linear_time() -> None:
    """Twenty thousand lines of what the rules look for are read as quickly as others."""
    for line in (">>> a", "> 5", "-----Original Message-----", "a:", "> a", "a: b"):
        body = "\n".join([line] * 20_000)
        assert split_reply(body).new or split_reply(body).quoted
