"""split_reply: the writer's own words, whatever the client and the language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail.reply_text import split_reply, without_quoted

ATTRIBUTIONS = {
    "english, gmail": "On Mon, Mar 4, 2024 at 9:15 AM Shop Support <help@shop.example> wrote:",
    "english, gmail, wrapped": "On Mon, Mar 4, 2024 at 9:15 AM Shop Support\n<help@shop.example> wrote:",
    "english, apple mail": "On Mar 4, 2024, at 9:15 AM, Shop Support <help@shop.example> wrote:",
    "english, thunderbird": "On 04/03/2024 09:15, Shop Support wrote:",
    "english, usenet": "Shop Support <help@shop.example> writes:",
    "german, gmail": "Am Mo., 4. März 2024 um 09:15 Uhr schrieb Shop Support <\nhelp@shop.example>:",
    "german, thunderbird": "Am 04.03.24 um 09:15 schrieb Shop Support:",
    "french, gmail": "Le lun. 4 mars 2024 à 09:15, Shop Support <help@shop.example> a écrit :",
    "french, wrapped": "Le lundi 4 mars 2024 à 09:15:00 UTC+1, Shop Support <help@shop.example> a\nécrit :",
    "spanish, gmail": "El lun, 4 mar 2024 a las 9:15, Shop Support (<help@shop.example>) escribió:",
    "portuguese, gmail": "Em seg., 4 de mar. de 2024 às 09:15, Shop Support <help@shop.example> escreveu:",
    "portuguese, apple": "No dia 4 de março de 2024, às 09:15, Shop Support <help@shop.example> escreveu:",
    "italian, gmail": "Il giorno lun 4 mar 2024 alle ore 09:15 Shop Support <help@shop.example> ha scritto:",
    "dutch, gmail": "Op ma 4 mrt 2024 om 09:15 schreef Shop Support <help@shop.example>:",
    "swedish, gmail": "Den mån 4 mars 2024 kl 09:15 skrev Shop Support <help@shop.example>:",
    "swedish, apple": "4 mars 2024 kl. 09:15 skrev Shop Support <help@shop.example>:",
    "danish, gmail": "Den man. 4. mar. 2024 kl. 09.15 skrev Shop Support <help@shop.example>:",
    "norwegian, gmail": "man. 4. mars 2024 kl. 09:15 skrev Shop Support <help@shop.example>:",
    "finnish, gmail": "ma 4. maalisk. 2024 klo 9.15 Shop Support (help@shop.example) kirjoitti:",
    "polish, gmail": "pon., 4 mar 2024 o 09:15 Shop Support <help@shop.example> napisał(a):",
    "polish, thunderbird": "W dniu 4.03.2024 o 09:15, Shop Support pisze:",
    "czech, gmail": "po 4. 3. 2024 v 9:15 odesílatel Shop Support <help@shop.example> napsal:",
    "slovak, gmail": "po 4. 3. 2024 o 9:15 Shop Support <help@shop.example> napísal(a):",
    "hungarian, gmail": "Shop Support <help@shop.example> ezt írta (időpont: 2024. márc. 4., H, 9:15):",
    "romanian, gmail": "În lun., 4 mar. 2024 la 09:15, Shop Support <help@shop.example> a scris:",
    "russian, gmail": "пн, 4 мар. 2024 г. в 09:15, Shop Support <help@shop.example>:",
    "russian, mail.ru": "Понедельник, 4 марта 2024, 9:15 +03:00 от Shop Support <help@shop.example>:",
    "ukrainian, gmail": "пн, 4 бер. 2024 р. о 09:15 Shop Support <help@shop.example> пише:",
    "bulgarian, gmail": "На пн, 4.03.2024 г. в 9:15 Shop Support <help@shop.example> написа:",
    "greek, gmail": "Στις Δευ 4 Μαρ 2024 στις 9:15 π.μ., ο χρήστης Shop Support <help@shop.example> έγραψε:",
    "turkish, gmail": "Shop Support <help@shop.example>, 4 Mar 2024 Pzt, 09:15 tarihinde şunu yazdı:",
    "hebrew, gmail": "בתאריך 4 במרץ 2024 ב-9:15 מאת \u202aShop\u202c\u200f <\u202ahelp@shop.example\u202c>:\u202c",
    "arabic, gmail": "في الاثنين، 4 مارس 2024 في 9:15 ص تمت كتابة ما يلي بواسطة Shop Support <help@shop.example>:",
    "chinese, gmail": "Shop Support <help@shop.example> 于2024年3月4日周一 09:15写道：",
    "chinese, apple": "在 2024年3月4日，上午9:15，Shop Support <help@shop.example> 写道：",
    "taiwanese, gmail": "Shop Support <help@shop.example> 於 2024年3月4日 週一 上午9:15寫道：",
    "japanese, gmail": "2024年3月4日(月) 9:15 Shop Support <help@shop.example>:",
    "japanese, apple": "2024/03/04 9:15、Shop Support <help@shop.example>のメール:",
    "korean, gmail": "2024년 3월 4일 (월) 오전 9:15, Shop Support <help@shop.example>님이 작성:",
    "vietnamese, gmail": "Vào Th 2, 4 thg 3, 2024 vào lúc 09:15 Shop Support <help@shop.example> đã viết:",
    "indonesian, gmail": "Pada tanggal Sen, 4 Mar 2024 pukul 09.15 Shop Support <help@shop.example> menulis:",
    "catalan, gmail": "Missatge de Shop Support <help@shop.example> del dia dl., 4 de març 2024 a les 9:15:",
    "german, name first": "Shop Support schrieb am 04.03.2024 um 09:15:",
    "mailbox first": "<help@shop.example> schrieb am Mo., 4. März 2024, 09:15:",
    "horde": "Zitat von Shop Support <help@shop.example>:",
    "date and mailbox only": "2024-03-04 9:15 GMT+01:00 Shop Support <help@shop.example>:",
}

HEADERS = {
    "english": "From: Shop\nSent: Monday, March 4, 2024 9:15 AM\nTo: Ann\nSubject: Your order",
    "english, bold": "*From:* Shop\n*Sent:* Monday, March 4, 2024\n*To:* Ann\n*Subject:* Your order",
    "german": "Von: Shop\nGesendet: Montag, 4. März 2024 09:15\nAn: Ann\nBetreff: Ihre Bestellung",
    "french": "De : Shop\nEnvoyé : lundi 4 mars 2024 09:15\nÀ : Ann\nObjet : Votre commande",
    "spanish": "De: Shop\nEnviado el: lunes, 4 de marzo de 2024 9:15\nPara: Ann\nAsunto: Su pedido",
    "portuguese": "De: Shop\nEnviada em: segunda-feira, 4 de março de 2024 09:15\nPara: Ann\nAssunto: Seu pedido",
    "italian": "Da: Shop Support\nInviato: lunedì 4 marzo 2024 09:15\nA: Ann\nOggetto: Ordine",
    "dutch": "Van: Shop Support\nVerzonden: maandag 4 maart 2024 09:15\nAan: Ann\nOnderwerp: Bestelling",
    "swedish": "Från: Shop Support\nSkickat: den 4 mars 2024 09:15\nTill: Ann\nÄmne: Order",
    "danish": "Fra: Shop Support\nSendt: 4. marts 2024 09:15\nTil: Ann\nEmne: Ordre",
    "finnish": "Lähettäjä: Shop\nLähetetty: maanantai 4. maaliskuuta 2024 9.15\nVastaanottaja: Ann\nAihe: Tilaus",
    "polish": "Od: Shop Support\nWysłano: poniedziałek, 4 marca 2024 09:15\nDo: Ann\nTemat: Zamówienie",
    "czech": "Od: Shop Support\nOdesláno: pondělí 4. března 2024 9:15\nKomu: Ann\nPředmět: Objednávka",
    "russian": "От: Shop Support\nОтправлено: 4 марта 2024 г. 9:15\nКому: Ann\nТема: Заказ",
    "turkish": "Kimden: Shop Support\nGönderildi: 4 Mart 2024 09:15\nKime: Ann\nKonu: Sipariş",
    "greek": "Από: Shop Support\nΣτάλθηκε: Δευτέρα, 4 Μαρτίου 2024\nΠρος: Ann\nΘέμα: Παραγγελία",
    "chinese": "发件人: Shop Support\n发送时间: 2024年3月4日 9:15\n收件人: Ann\n主题: 订单",
    "japanese": "差出人: Shop Support\n送信日時: 2024年3月4日 9:15\n宛先: Ann\n件名: 注文",
    "korean": "보낸 사람: Shop Support\n보낸 날짜: 2024년 3월 4일\n받는 사람: Ann\n제목: 주문",
    "original message": "-----Original Message-----\nFrom: Shop Support\nTo: Ann",
    "german original": "-----Ursprüngliche Nachricht-----\nVon: Shop Support",
    "any words between dashes": "----- Mail original -----\nDe: Shop Support",
    "ticket system": "##- Please type your reply above this line -##",
    "outlook rule": "________________________________\nFrom: Shop Support\nSent: Monday\nTo: Ann\nSubject: Hi",
}

APP_LINES = [
    "Sent from my iPhone",
    "Get Outlook for iOS<https://aka.ms/o0ukef>",
    "Von meinem iPhone gesendet",
    "Envoyé de mon iPhone",
    "Enviado desde mi iPhone",
    "Enviado do meu iPhone",
    "Inviato da iPhone",
    "Verstuurd vanaf mijn iPhone",
    "Skickat från min iPhone",
    "Sendt fra min iPhone",
    "Lähetetty iPhonesta",
    "Wysłane z iPhone'a",
    "Odesláno z iPhonu",
    "Отправлено с iPhone",
    "iPhone'umdan gönderildi",
    "Στάλθηκε από το iPhone μου",
    "从我的 iPhone 发送",
    "iPhoneから送信",
    "나의 iPhone에서 보냄",
    "נשלח מה-iPhone שלי",
]


@pytest.mark.parametrize("attribution", ATTRIBUTIONS.values(), ids=ATTRIBUTIONS)
def test_attribution_and_quote(attribution: str) -> None:
    """What stands above an attribution and its quote is new, in every language."""
    reply = split_reply(f"Yes, please send it again.\n\n{attribution}\n\n> Shall we send it again?\n> Support\n")
    assert reply.new == "Yes, please send it again."
    assert "Shall we" in reply.quoted


DATED = {name: text for name, text in ATTRIBUTIONS.items() if "usenet" not in name}


@pytest.mark.parametrize("attribution", DATED.values(), ids=DATED)
def test_attribution_without_quote_marks(attribution: str) -> None:
    """Clients that quote without marks are understood by the attribution alone."""
    reply = split_reply(f"Yes, please.\n\n{attribution}\n\nShall we send it again?\n")
    assert reply.new == "Yes, please."


@pytest.mark.parametrize("block", HEADERS.values(), ids=HEADERS)
def test_header_block(block: str) -> None:
    """What stands above the copied head of an older mail is new, in every language."""
    reply = split_reply(f"Yes, please send it again.\n\n{block}\n\nShall we send it again?\n")
    assert reply.new == "Yes, please send it again."
    assert "Shall we" in reply.quoted


@pytest.mark.parametrize("line", APP_LINES)
def test_app_line_is_signature(line: str) -> None:
    """A line that a phone appended is the signature, not the text."""
    reply = split_reply(f"Yes, please.\n\n{line}\n")
    assert (reply.new, reply.signature) == ("Yes, please.", line)


def test_inline_answers_are_kept() -> None:
    """Answers between the quotes stay, with the quotes that they answer."""
    body = "On 4 Mar 2024, Ann <a@b.example> wrote:\n> Which size?\nMedium.\n> Which colour?\nGreen.\n"
    assert split_reply(body).new == "> Which size?\nMedium.\n> Which colour?\nGreen."


def test_answer_below_the_quote() -> None:
    """An answer below one announced quote is new without the quote."""
    reply = split_reply("On 4 Mar 2024, Ann <a@b.example> wrote:\n> Which size?\n> And colour?\n\nMedium, green.\n")
    assert (reply.new, "Which size?" in reply.quoted) == ("Medium, green.", True)


def test_answer_above_and_below_the_quote() -> None:
    """A greeting above and an answer below a quote are both kept."""
    reply = split_reply(
        "Hello Ann,\n\nOn 4 Mar 2024, Ann <a@b.example> wrote:\n> Which size?\n\nMedium is fine for me.\n"
    )
    assert "Hello Ann," in reply.new
    assert "Medium is fine for me." in reply.new


def test_forward_with_a_note() -> None:
    """The note above a forwarded mail is new; the mail is quoted."""
    body = "What is this?\n\n---------- Forwarded message ---------\nFrom: A <a@b.example>\nSubject: Hi\n\nBuy now!\n"
    reply = split_reply(body)
    assert (reply.new, "Buy now!" in reply.quoted) == ("What is this?", True)


def test_forward_without_a_note_keeps_its_text() -> None:
    """A bare forward is read as text, for there is no other."""
    body = "---------- Forwarded message ---------\nFrom: A <a@b.example>\nDate: 4 Mar 2024\nSubject: Hi\n\nBuy now!\n"
    assert "Buy now!" in split_reply(body).new


def test_usenet_signature() -> None:
    """Below `-- ` stands the signature, up to a quote."""
    reply = split_reply("Yes.\n-- \nAnn Lee\nhttp://ann.example\n\nOn 4 Mar 2024, B <b@c.example> wrote:\n> Well?\n")
    assert (reply.new, reply.signature.split("\n")) == ("Yes.", ["--", "Ann Lee", "http://ann.example"])


PROSE = [
    "my order of 4 March at 9:15 holds:\n\n2 pans\n1 lid\n\nTo: be honest, I am not amused.\nAnn",
    "On 4 March 2024 at 9:15 I sent you this list:\n\n2 pans\n1 lid",
    "On Monday, 4 March 2024, I asked ann@shop.example to do three things:\n\nfirst, second and third.",
    "At 10:30 these came:\n- a pan\n- a lid",
    "Am 04.03.2024 habe ich Folgendes bestellt:\n\n2 Pfannen",
    "Le 4 mars 2024 à 9:15, voici ce que j'ai reçu :\n\nun couvercle",
    "El 4 de marzo de 2024 compré lo siguiente:\n\n2 sartenes",
    "Date: 4 March\n\nDear Sirs,\nSubject: none of your business.\nAnn",
    "I wrote:\nplease help.\nThen nothing came.",
    "Sent the parcel back yesterday.\nThanks\nAnn",
    "--\nThis line comes first.\nThis one comes second.",
    "Hello\n--\n" + "A line of the letter, and no signature is as long as this.\n" * 90 + "Ann",
    "| pan | 2 |\n| lid | 1 |\nThat is all.",
    "My order\n--------\n2 pans\n1 lid",
    "The options are:\n====\n" + "Another long sentence that says what I want to have from you, please.\n" * 12 + "Ann",
]


@pytest.mark.parametrize("body", PROSE)
def test_prose_is_no_quote(body: str) -> None:
    """Dates, colons, labels, rules and tables in the writer's own prose are the writer's own."""
    assert split_reply(body).new == body


NEVER_CUT = [
    "I need a ticket:\n\nFrom: London\nTo: Paris\nDate: 5 May\n\nCan you book it?",
    "From: London\nTo: Paris\nDate: 5 May 2024 10:30\nPassengers: 2",
    "The mail was:\nFrom: me@customer.example\nTo: help@shop.example\nSubject: refund\n\nWhy does nobody answer?",
    "Hello,\n\nAnn from your team wrote:\n\nplease restart it.\n\nI did, and it still fails.",
    "Hello,\n\nAnn from your team wrote:\n\n> please restart it.\n\nI did, and it fails.",
    "Hello,\n\nAnn from your team wrote:\n\n> please restart it.\n\nDid that. Nothing.",
    "I have two questions.\n\n***\n\nWhen does it come?\n\n***\n\nWhat does it cost?",
    "I have two questions.\n\n--\n\nWhen does it come?\n\n--\n\nWhat does it cost?",
    "First the lid.\n\n-----\n\nThen the pan. I need an answer by Friday.",
    "My points:\n\n-----\n\n1. the lid\n2. the pan\n3. the box",
    "Please stop this.\n\n***\n\nUnsubscribe me from the mailing list.",
    "The lid broke.\n\nSent by post on Monday.",
    "It came late.\n\nSent from Berlin yesterday.",
    "Do you have\n\n- pans?\n--\n- lids?",
    'On 5 May your colleague Tom said and wrote:\n"we pay"\nbut nothing came.',
    "Tom and Ann differ.\n\nOn 5 November Tom wrote:\n\nit is on its way\n\nOn 7 November Ann wrote:\n\nit is lost",
    "On 5 May I wrote this:\n\nplease send it again.\n\nNo answer came.",
    "My data\nName: Ann\nE-mail: ann@customer.example\nDate: 5 May 2024 10:30\nSubject: refund",
]


def test_a_virus_scanners_notice_below_a_quote_kept_the_whole_quote() -> None:
    """What stands under a signature's mark below a quote is no answer to it; a sentence there still is."""
    quote = "On Tue, 3 Mar 2026 at 09:12, Shop <help@shop.example> wrote:\n> Which one?"
    notice = "--\nThis email has been checked for viruses by Avast antivirus software.\nwww.avast.com"
    assert split_reply(f"The blue one.\n\n{quote}\n\n{notice}").new == "The blue one."
    assert "cracked" in split_reply(f"{quote}\n\n--\nThe lid is cracked. Please send one.").new


@pytest.mark.parametrize("body", NEVER_CUT)
def test_a_customers_words_are_never_cut(body: str) -> None:
    """Lists, rules between paragraphs and sentences about mail are the customer's own words."""
    new = split_reply(body).new
    own = [line for line in body.split("\n") if not line.startswith((">", "Ann from"))]
    assert [line for line in own if line not in new.split("\n")] == []


def test_an_answer_that_begins_like_an_attribution_was_taken_for_the_quotes() -> None:
    """`On Thursday.` above a quoted attribution is the answer, and the quote is the quote."""
    body = "On Thursday.\n\n> On May 17, 2024, at 9:15, Shop <help@shop.example> wrote:\n>\n> When shall we come?\n"
    reply = split_reply(body)
    assert (reply.new, "When shall we come?" in reply.quoted) == ("On Thursday.", True)


def test_an_answer_like_a_header_stands_above_the_header_of_the_quote() -> None:
    """A line with a label above an Outlook header is no part of it."""
    head = "From: Shop <help@shop.example>\nSent: Monday, 4 March 2024 09:15\nTo: Ann\nSubject: Hi"
    for answer in ("To: the office", "Date: 5 May", "From: Berlin"):
        assert split_reply(f"{answer}\n\n{head}\n\nWhen shall we come?\n").new == answer


def test_a_mail_that_would_be_all_quote_is_new() -> None:
    """Where every line would be quoted, nothing is."""
    body = "On 5 May 2024 at 10:30\nAnn <a@b.example> wrote:\n> When?\n"
    assert "On 5 May 2024 at 10:30" in split_reply(body).new


OTHER_APP_LINES = [
    "Sent from my Fairphone",
    "Sent from Outlook for iOS",
    "Изпратено от моя iPhone",
    "ส่งจาก iPhone ของฉัน",
    "मेरे iPhone से भेजा गया",
    "Poslano z mojega iPhona",
    "أُرسلت من الـ iPhone الخاص بي",
    "Gửi từ iPhone của tôi",
]


@pytest.mark.parametrize("line", OTHER_APP_LINES)
def test_app_lines_of_more_languages(line: str) -> None:
    """What a phone appends is the signature in these languages, too."""
    reply = split_reply(f"Yes, please.\n\n{line}\n\nOn 4 Mar 2024 at 9:15, B <b@c.example> wrote:\n> Well?\n")
    assert (reply.new, reply.signature) == ("Yes, please.", line)


def test_hard_wrapped_quotes_are_quotes() -> None:
    """The rest of a quoted line that a mail program broke is no new text; an answer between the lines is."""
    quoted = (
        "> we have sent the parcel with the two pans and the three lids to your\naddress\n"
        "> in Berlin, and would like to hear from you whether all has come in one\npiece.\n"
    )
    reply = split_reply(f"Yes it did.\n\nOn 4 Mar 2024 at 9:15, B <b@c.example> wrote:\n{quoted}")
    assert reply.new == "Yes it did."
    between = (
        "> Would you like to have the large blue pan, or rather the small red one?\nthe blue one\n> And when?\nsoon\n"
    )
    new = split_reply(between).new
    assert "the blue one" in new
    assert "soon" in new


def test_text_below_an_html_signature_is_new() -> None:
    """An HTML signature ends where its element does: what is written below it is not lost."""
    html = "<div>Hello</div><div class='gmail_signature'>Ann Lee<br>Acme</div><div>P.S. It is urgent, order 12.</div>"
    reply = split_reply("", html)
    assert "It is urgent" in reply.new
    assert reply.signature == "Ann Lee\nAcme"


def test_quote_only_is_not_empty() -> None:
    """A mail that holds only quotes is new as a whole."""
    assert split_reply("> Nothing but this.\n").new == "> Nothing but this."


def test_code_is_text() -> None:
    """What stands between fences is text, even where it looks like a quote or a rule."""
    body = "See:\n\n```\n> print(1)\n--\n# comment\n```\n\nIt fails."
    assert split_reply(body).new == body


PIECES = [*"ab >:-_\n|@<.19", "On ", " wrote:", "\nFrom: ", "\nTo: ", "\nSent: ", "Sent from my x", "\n\n", "\n> "]


@given(st.lists(st.sampled_from(PIECES)))
def test_never_empty(pieces: list[str]) -> None:
    """New text is never empty when the body has text, and no character is lost or invented."""
    text = "".join(pieces)
    reply = split_reply(text)
    assert bool(reply.new.strip()) == bool(text.strip())
    parts = "".join((reply.new, reply.quoted, reply.signature))
    assert sorted("".join(parts.split())) == sorted("".join(text.split()))


SIGNED = """-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

Our order is late:
- - two boxes

- --\x20
Ann Lee
-----BEGIN PGP SIGNATURE-----
Version: GnuPG v2

iQEzBAEBCAAdFiEE+abc/def==
=aBcD
-----END PGP SIGNATURE-----
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_armour_of_a_signed_mail_was_taken_for_its_authors_words(ends: str) -> None:
    """A clear-signed text is read as it was written, dashes and signature mark too (RFC 9580, 7)."""
    found = split_reply(SIGNED.replace("\n", ends))
    assert found.new == "Our order is late:\n- two boxes"
    assert found.signature.splitlines() == ["--", "Ann Lee"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-----END PGP SIGNATURE-----", ""),
        ("=aBcD", "please read this too"),
        ("Hash: SHA256", "Our key is new"),
        ("-----BEGIN PGP SIGNATURE-----", ""),
    ],
)
def test_what_is_no_whole_armour_stays(old: str, new: str) -> None:
    """Nothing that the author wrote hides in an armour, broken off or quoted in part."""
    found = split_reply(SIGNED.replace(old, new))
    everything = found.new + found.quoted + found.signature
    assert "BEGIN PGP SIGNED MESSAGE" in everything
    assert new in everything


def test_a_mail_passed_on_above_the_writers_words_was_theirs() -> None:
    """Below a separator and a head stands somebody else's mail, wherever it is; where quote signs tell, they tell."""
    passed_on = "---------- Forwarded message ----------\nFrom: Karl Brandt\nPlease use 2 Station Road.\n\nFYI"
    assert not without_quoted(passed_on).strip()
    answered = "-----Original Message-----\nFrom: Karl Brandt\n> Which address?\nPlease use 9 Quarry Lane."
    assert without_quoted(answered).split("\n")[-1] == "Please use 9 Quarry Lane."
