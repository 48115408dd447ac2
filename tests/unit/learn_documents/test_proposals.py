"""An article is a person's own answer, with personal data taken out, or nothing."""

from __future__ import annotations

import pytest

from services.learn_documents.proposals import Answered, article
from services.mail.masking import Known

ANSWER = """Hi John,

the import stops because the file has a byte order mark. Save it as UTF-8 without one, then import order A-1001 again.

# not a heading

Best regards,
Mia Stone"""
ASKED = "Hello,\n\nmy import of order A-1001 stops. Why does the import stop at the first line?\n\nThanks\nJohn"
KNOWN = Known(names=("John Miller", "Mia Stone"), addresses=("john@acme.example",), said=(ASKED,))


def case(**given: str) -> Answered:
    fields = {"subject": "Re: AW: Import stops for John", "answer": ANSWER, **given}
    return Answered(asked=(ASKED,), known=KNOWN, **fields)


def test_an_answer_becomes_an_article_without_the_people_in_it() -> None:
    """Subject, question and answer stay; greeting, closing, names and order numbers do not."""
    made = article(case(), 12)
    assert made is not None
    assert made.title == "Import stops for [name]"
    assert made.text.startswith(f"# {made.title}\n\n*Why does the import stop at the first line?*\n\nthe import stops")
    assert "order [number] again" in made.text
    assert not [word for word in ("John", "Mia", "A-1001", "Best regards") if word in made.text]
    assert made.masked == 2


def test_a_hash_in_a_mail_makes_no_heading() -> None:
    """What the customer's or colleague's lines begin with does not cut the article."""
    made = article(case(), 12)
    assert made is not None
    assert "\n\\# not a heading" in made.text


def test_a_short_answer_is_no_article() -> None:
    """Thanks and done teach nobody, and neither does a greeting with a name below it."""
    assert article(case(answer="Hi John,\n\ndone, have a nice day!\n\nMia"), 12) is None
    twelve = " ".join(["word"] * 12)
    assert article(case(answer=twelve), 12) is not None
    assert article(case(answer=twelve), 13) is None


@pytest.mark.parametrize(
    "answer",
    [
        "取り込みが止まるのはファイルの先頭にバイト順マークが付いているためです。外して保存し直してください。",
        "导入停止是因为文件开头带有字节顺序标记。请将编码改为不带标记的UTF-8并重新保存。",
    ],
)
def test_an_answer_without_blanks_between_its_words_was_no_article(answer: str) -> None:
    """Japanese and Chinese answers count by their characters, as summaries and briefs do."""
    made = article(case(answer=answer), 12)
    assert made is not None
    assert answer[:20] in made.text
    assert article(case(answer="完了しました。よろしくお願いします。"), 12) is None


def test_an_article_without_a_subject_has_a_title() -> None:
    """Every document has one."""
    made = article(case(subject="Re:"), 12)
    assert made is not None
    assert made.title == "An answer"
