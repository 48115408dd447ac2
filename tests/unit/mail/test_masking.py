"""mask: what is taken out of a text, and what must stay."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail.masking import iban_holds, luhn_holds, mask
from tests.support.cpu import at_most


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("card 4111 1111 1111 1111.", "card [card …1111]."),
        ("5500-0000-0000-0004", "[card …0004]"),
        ("amex 378282246310005", "amex [card …0005]"),
        ("IBAN DE89 3704 0044 0532 0130 00 please", "IBAN [iban …3000] please"),
        ("GB29NWBK60161331926819", "[iban …6819]"),
        ("fr: FR14 2004 1010 0505 0001 3M02 606", "fr: [iban …2606]"),
        ("my password is hunter2!", "my password is [secret]"),
        ("api_key=9f8e7d6c5b4a", "api_key=[secret]"),
        ("key sk-ant-api03-AAAABBBBCCCCDDDDEEEE", "key [secret]"),
        ("AKIAIOSFODNN7EXAMPLE", "[secret]"),
        ("ghp_" + "a1" * 18, "[secret]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "[secret]"),
    ],
)
def test_secrets_are_masked(text: str, masked: str) -> None:
    """Card numbers, IBANs and keys leave the text; the last four characters of a number stay."""
    assert mask(text).text == masked


@pytest.mark.parametrize(
    "text",
    [
        "order 4111 1111 1111 1112",
        "DE89 3704 0044 0532 0130 01",
        "call +49 170 1234567890",
        "tracking 1Z999AA10123456784",
        "I forgot my password, please reset it",
        "the password does not work",
        "2026-11-21 07:00:00 1234567890",
        "0000 0000 0000 0000",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    """Numbers whose check digits do not hold, and words about passwords, stay as they are."""
    assert mask(text).text == text
    assert mask(text).found == ()


@pytest.mark.parametrize(
    "text",
    [
        "４１１１ １１１１ １１１１ １１１１",
        "٤١١١ ١١١١ ١١١١ ١١١١",
        "4111\u200b1111\u20601111\ufeff1111",
        "4111\u00ad1111\u00ad1111\u00ad1111",
        "4111 - 1111 - 1111 - 1111",
        "4111\u20131111\u20131111\u20131111",
        "4111/1111/1111/1111",
        "4111_1111_1111_1111",
        "4111\n1111\r\n1111\n1111",
        "> 4111 1111\n> 1111 1111",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "4111 1111 1111 1111 12/27 123",
        "12 4111 1111 1111 1111",
        "①: 4111\u2003 1111\u2009 1111 1111",
        "DE89\u200b3704\u200b0044\u200b0532\u200b0130\u200b00",
        "ＤＥ８９ ３７０４ ００４４ ０５３２ ０１３０ ００",
        "DE89 3704 0044\n0532 0130 00",
        "DE89.3704.0044.0532.0130.00",
        "AB12 and IBAN DE89370400440532013000",
        "IBANDE89370400440532013000",
        "D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0",
        "sk-ant-api03-AAAA\u200bBBBBCCCCDDDDEEEE",
        "sk-ant-api03-AAAABBBB\nCCCC9DDDDEEEE",
        "pass\u00adword: hunter2!",
        "ｐａｓｓｗｏｒｄ： ｈｕｎｔｅｒ２！",
        "4111 (1111) 1111 (1111)",
        "pwd=hunter2!",
    ],
)
def test_no_spelling_hides_a_secret(text: str) -> None:
    """Compatibility forms, digits of other scripts, unseen characters, separators and line breaks hide nothing."""
    seen = re.sub(r"\W", "", unicodedata.normalize("NFKC", mask(text).text)).lower()
    assert mask(text).found
    for secret in ("41111111", "704004405320130", "api03", "hunter2"):
        assert secret not in seen


def test_what_stands_around_a_secret_stays() -> None:
    """Only the secret's own characters are replaced; the rest keeps its spelling."""
    assert mask("Ａ４１１１　１１１１ １１１１ １１１１Ｂ² and").text == "Ａ[card …1111]Ｂ² and"
    assert mask("key sk-ant-api03-AAAABBBBCCCCDDDDEEEE\nPlease help").text == "key [secret]\nPlease help"


def test_masking_takes_time_in_proportion() -> None:
    """A hundred thousand characters of the worst kind are masked within seconds."""
    for text in ("4" * 100_000, "4 " * 50_000, "DE89" * 25_000, "DE" * 50_000, "é4 " * 30_000, "a1_\n" * 25_000):
        begun = time.process_time()
        mask(text)
        assert time.process_time() - begun < 5


def test_private_key_is_masked_whole() -> None:
    """A PEM private key goes from its first to its last line, also where the end is cut off."""
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----"
    assert mask(f"here: {pem} thanks").text == "here: [secret] thanks"
    assert mask(f"here: {pem[:45]}").text == "here: [secret]"
    assert (
        mask(f"here: {pem.replace('RSA PRIVATE KEY', 'PGP PRIVATE KEY BLOCK')} thanks").text == "here: [secret] thanks"
    )


def test_found_names_each_kind() -> None:
    """What was taken out is told by kind, never by value."""
    found = mask("4111111111111111 and GB29NWBK60161331926819").found
    assert [(f.kind, f.shown) for f in found] == [("iban", "[iban …6819]"), ("card", "[card …1111]")]


@given(st.text(alphabet="0123456789 -", max_size=60))
def test_no_valid_card_survives(text: str) -> None:
    """After masking, no group of 16 digits on its own that begins like a card passes Luhn."""
    left = re.findall(r"(?<![\d -])[456]\d{15}(?![\d -])", mask(text).text)
    assert not any(luhn_holds(digits) and len(set(digits)) > 1 for digits in left)


@given(st.text())
def test_masking_twice_is_masking_once(text: str) -> None:
    """mask is idempotent on any text."""
    once = mask(text).text
    assert mask(once).text == once


def test_check_digits() -> None:
    """Luhn and mod 97 hold for the published examples and not for a changed digit."""
    assert luhn_holds("79927398713")
    assert not luhn_holds("79927398714")
    assert iban_holds("GB82WEST12345698765432")
    assert not iban_holds("GB83WEST12345698765432")


@pytest.mark.parametrize("country", ["is", "at", "it", "no", "md", "lv", "gt", "al", "mt", "se", "do", "me", "es"])
def test_a_sentence_whose_check_digits_hold_is_no_iban(country: str) -> None:
    """ "is 40. Our region ..." was masked as an Icelandic IBAN: of a hundred numbers, one or two hold by chance."""
    sentences = [f"The answer {country} {n:02}. Our region has no field for that at all." for n in range(100)]
    assert [mask(one).text for one in sentences] == sentences


@pytest.mark.parametrize(
    "iban",
    [
        "IS140159260076545510730339",
        "MT84MALT011000012345MTLCAST001S",
        "LC55HEMM000100010012001200023015",
        "BR1800360305000010009795493C1",
        "GT82TRAJ01020000001210029690",
        "KZ86125KZT5004100100",
        "SC18SSCB11010000000000001497USD",
        "MD24AG000225100013104168",
        "QA58DOHB00001234567890ABCDEFG",
        "SM86U0322509800000000270100",
        "AL47212110090000000235698741",
        "NL91ABNA0417164300",
    ],
)
def test_an_iban_with_letters_where_its_country_has_them_is_masked(iban: str) -> None:
    """Examples of the ISO 13616 registry, in capitals, small letters, and groups of four."""
    for written in (iban, iban.lower(), " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))):
        assert mask(f"Pay {written}, please").text.startswith("Pay [iban …")


@pytest.mark.parametrize("line", ["a1234567890123456789\n", "a123456789012345678é\n", "a1234567890123456789\n> "])
def test_a_text_of_cut_words_is_masked_in_linear_time(line: str) -> None:
    """Words that line breaks cut are put together in one pass: 80 kB of them took sixteen seconds."""
    with at_most(3.0, f"lines of {line!r}"):
        mask(line * (100_000 // len(line)))


SIGNS = [",", ", ", ":", "|", "*", "~", "+", "=", "\\", ";", "'", ")(", "][", "     ", "\n\n\n\n\n\n", "\n> > > ", "\u2800",
         "\u0301", "\ufe0f\u20e3", "\u30fb", "\u301c", "\u2192", " <> "]  # fmt: skip


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("size", [1, 4])
def test_the_same_sign_between_all_groups_hides_no_number(sign: str, size: int) -> None:
    """Whatever a customer puts between the groups of a number, its reader still reads the number."""
    for number, kind in (("4111111111111111", "card"), ("DE89370400440532013000", "iban")):
        spread = sign.join(number[at : at + size] for at in range(0, len(number), size))
        assert mask(f"My number is {spread} ok.").text == f"My number is [{kind} …{number[-4:]}] ok."


def test_the_groups_of_an_american_express_card_are_seen() -> None:
    """Four, six and five digits."""
    assert mask("3782|822463|10005").text == "[card …0005]"


@pytest.mark.parametrize(
    "text",
    ["rows 4111, 1112, 1113, 1114", "4111, 1111: 1111; 1111", "at 41:11:11 on 11, 11, 11", "A1, B2, C3, D4, E5, F6",
     "1,000,000,000,000", "4,111,111,111,111,111"],
)  # fmt: skip
def test_lists_and_amounts_are_no_numbers_of_cards(text: str) -> None:
    """Other signs, other groups, or a wrong check digit: it stays."""
    assert mask(text).text == text


def test_a_long_list_of_short_words_is_masked_in_linear_time() -> None:
    """Groups are looked at once each."""
    began = time.process_time()
    mask("1, " * 200_000)
    assert time.process_time() - began < 5
