"""Attribution lines of mail programs, as they write them: the quote goes, the customer's words stay."""

from __future__ import annotations

import pytest

from services.mail.reply_text.split import split_reply

NEW = "Thursday works for me.\nCan you send two?"
QUOTED = ("ZQUOTE please confirm the day.", "ZQUOTE thanks")

ATTRIBUTIONS = {
    "tb en": "On 3/4/24 09:15, Support wrote:",
    "tb de": "Am 04.03.24 um 09:15 schrieb Support:",
    "tb fr": "Le 04/03/2024 à 09:15, Support a écrit :",
    "tb nl": "Op 04-03-2024 om 09:15 schreef Support:",
    "tb ja": "On 2024/03/04 9:15, Support さんは書きました:",
    "apple": "On Mar 4, 2024, at 9:15 AM, Support <s@shop.example> wrote:",
    "apple de": "Am 04.03.2024 um 09:15 schrieb Support <s@shop.example>:",
    "apple it": "Il giorno 4 mar 2024, alle ore 09:15, Support <s@shop.example> ha scritto:",
    "apple es": "El 4 mar 2024, a las 9:15, Support <s@shop.example> escribió:",
    "apple sv": "4 mars 2024 kl. 09:15 skrev Support <s@shop.example>:",
    "apple zh": "2024年3月4日 09:15，Support <s@shop.example> 写道：",
    "apple ko": "2024. 3. 4. 오전 9:15, Support <s@shop.example> 작성:",
    "apple ru": "4 марта 2024 г., в 09:15, Support <s@shop.example> написал(а):",
    "apple fi": "Support <s@shop.example> kirjoitti 4.3.2024 kello 9.15:",
    "apple da": "Den 4. mar. 2024 kl. 09.15 skrev Support <s@shop.example>:",
    "apple pt": "No dia 04/03/2024, às 09:15, Support <s@shop.example> escreveu:",
    "apple tr": "Support <s@shop.example> şunları yazdı (4 Mar 2024 09:15):",
    "apple pl": "Wiadomość napisana przez Support <s@shop.example> w dniu 04.03.2024, o godz. 09:15:",
    "proton": "On Monday, March 4th, 2024 at 9:15 AM, Support <s@shop.example> wrote:",
    "proton caps": "-------- Original Message --------\nOn Mar 4, 2024, 9:15 AM, Support < s@shop.example> wrote:",
    "yahoo": "On Monday, March 4, 2024 at 09:15:12 AM GMT+1, Support <s@shop.example> wrote:",
    "yahoo fr": "Le lundi 4 mars 2024 à 09:15:12 UTC+1, Support <s@shop.example> a écrit :",
    "zoho": "---- On Mon, 04 Mar 2024 09:15:00 +0100 Support <s@shop.example> wrote ----",
    "k9": "On 4 March 2024 09:15:00 CET, Support <s@shop.example> wrote:",
    "k9 de": "Am 4. März 2024 09:15:00 MEZ schrieb Support <s@shop.example>:",
    "spark": "On 4 Mar 2024, 09:15 +0100, Support <s@shop.example>, wrote:",
    "superhuman": "On Mon, Mar 04, 2024 at 9:15 AM, Support < s@shop.example > wrote:",
    "hey": "On March 4, 2024, Support <s@shop.example> wrote:",
    "gmail th": "เมื่อ จ. 4 มี.ค. 2024 เวลา 09:15 Support <s@shop.example> เขียนว่า:",
    "gmail he": "‫בתאריך יום ב׳, 4 במרץ 2024 ב-9:15 מאת ‪Support‬‏ <‪s@shop.example‬‏>:‬",
    "gmail ar": "في الاثنين، 4 مارس 2024 في 9:15 ص تمت كتابة ما يلي بواسطة Support <s@shop.example>:",
    "gmail cs": "po 4. 3. 2024 v 9:15 odesílatel Support <s@shop.example> napsal:",
    "gmail hu": "Support <s@shop.example> ezt írta (időpont: 2024. márc. 4., H, 9:15):",
    "gmail vi": "Vào Th 2, 4 thg 3, 2024 vào lúc 09:15 Support <s@shop.example> đã viết:",
    "gmail uk": "пн, 4 бер. 2024 р. о 09:15 Support <s@shop.example> пише:",
    "gmail el": "Στις Δευ 4 Μαρ 2024 στις 9:15 π.μ., ο/η Support <s@shop.example> έγραψε:",
    "gmail lt": "2024-03-04, pr, 09:15 Support <s@shop.example> rašė:",
    "gmail bg": "На пн, 4.03.2024 г. в 9:15 Support <s@shop.example> написа:",
    "gmail id": "Pada Sen, 4 Mar 2024 pukul 09.15 Support <s@shop.example> menulis:",
    "gmail fa": "در تاریخ دوشنبه ۴ مارس ۲۰۲۴ ساعت ۹:۱۵ Support <s@shop.example> نوشت:",
    "gmail ka": "ორშ, 4 მარ. 2024, 09:15 Support <s@shop.example>-მა დაწერა:",
    "gmail hi": "सोम, 4 मार्च 2024 को 9:15 am बजे को Support <s@shop.example> ने लिखा:",
    "mutt": "On Mon, Mar 04, 2024 at 09:15:00AM +0100, Support wrote:",
    "gnus": "Support <s@shop.example> writes:",
    "pine": "On Mon, 4 Mar 2024, Support wrote:",
    "list": "Date: Mon, 4 Mar 2024 09:15:00 +0100\nFrom: Support <s@shop.example>\nSubject: Re: day",
    "outlook mobile": "________________________________\nFrom: Support <s@shop.example>\nSent: Monday, March 4, 2024 9:15:00 AM\nTo: Ann <ann@x.example>\nSubject: Re: day",
    "outlook de": "Von: Support <s@shop.example>\nGesendet: Montag, 4. März 2024 09:15\nAn: Ann <ann@x.example>\nBetreff: AW: Tag",
    "outlook pl": "Od: Support <s@shop.example>\nWysłane: poniedziałek, 4 marca 2024 09:15\nDo: Ann <ann@x.example>\nTemat: Re: day",
    "outlook et": "Saatja: Support <s@shop.example>\nSaadetud: esmaspäev, 4. märts 2024 09:15\nAdressaat: Ann <ann@x.example>\nTeema: Re: day",
    "bluemail": "On 4 Mar 2024, at 09:15, Support <s@shop.example> wrote:",
    "samsung": "-------- Original message --------\nFrom: Support <s@shop.example>\nDate: 04/03/2024 09:15 (GMT+01:00)\nTo: Ann <ann@x.example>\nSubject: Re: day",
    "gmx": 'Gesendet: Montag, 04. März 2024 um 09:15 Uhr\nVon: "Support" <s@shop.example>\nAn: ann@x.example\nBetreff: Re: Tag',
    "qq": '------------------ 原始邮件 ------------------\n发件人: "Support" <s@shop.example>;\n发送时间: 2024年3月4日(星期一) 上午9:15\n收件人: "Ann"<ann@x.example>;\n主题: Re: day',
    "163": '在 2024-03-04 09:15:00，"Support" <s@shop.example> 写道：',
    "naver": '-----Original Message-----\nFrom: "Support"<s@shop.example>\nTo: <ann@x.example>;\nCc:\nSent: 2024-03-04 (월) 09:15:00 (GMT+09:00)\nSubject: Re: day',
    "fastmail": "On Mon, 4 Mar 2024, at 9:15 AM, Support wrote:",
    "zoho, no empty line": "---- On Mon, 04 Mar 2024 09:15:22 +0100 Support <s@shop.example> wrote ---",
    "groupwise": ">>> Support <s@shop.example> 04.03.2024 09:15 >>>",
    "thunderbird sl": "Support je 04. 03. 2024 ob 09:15 napisal:",
    "outlook mobile de": "Outlook für Android<https://aka.ms/AAb9ysg> beziehen\n________________________________\nVon: Support <s@shop.example>\nGesendet: Montag, März 4, 2024 9:15:00 AM\nAn: Ann <ann@x.example>\nBetreff: Tag",
    "outlook mobile fr": "Télécharger Outlook pour Android<https://aka.ms/x>\n________________________________\nDe : Support <s@shop.example>\nEnvoyé : lundi, mars 4, 2024 9:15 AM\nÀ : Ann <ann@x.example>\nObjet : Jour",
    "mail.ru": "Понедельник, 4 марта 2024, 9:15 +03:00 от Support <s@shop.example>:",
    "yandex": '04.03.2024, 09:15, "Support" <s@shop.example>:',
}


@pytest.mark.parametrize("client", ATTRIBUTIONS)
@pytest.mark.parametrize("mark", ["> ", ""])
def test_the_quote_goes_and_the_customers_words_stay(client: str, mark: str) -> None:
    """Whatever a program writes above what it quotes, and with quote signs or without: only the new words are new."""
    gap = "" if mark else "\n"
    quote = "\n".join(f"{mark}{line}" for line in QUOTED)
    assert split_reply(f"{NEW}\n\n{ATTRIBUTIONS[client]}\n{gap}{quote}\n", "").new.strip() == NEW


@pytest.mark.parametrize(
    "attribution",
    [
        "> On 4 Mar 2024, at 09:15, Support <s@shop.example> wrote:",
        "> Op 4 mrt 2024, om 09:15 heeft Support <s@shop.example> het volgende geschreven:",
        "> 2024/03/04 9:15、Support <s@shop.example>のメール:",
        "> Support <s@shop.example> kirjoitti 4.3.2024 kello 9.15:",
    ],
)
def test_a_quote_on_top_whose_attribution_is_quoted_too_goes(attribution: str) -> None:
    """Apple's programs quote the attribution; an answer below it left the whole quote among the customer's words."""
    quote = "\n".join(f"> {line}" for line in QUOTED)
    assert split_reply(f"{attribution}\n>\n{quote}\n\n{NEW}\n", "").new.strip() == NEW


@pytest.mark.parametrize(
    "text",
    [
        "Am 4. März schrieb ich Ihnen:\nkeine Antwort bisher. Bitte melden.",
        "Le 4 mars à 9:15 j'ai écrit :\naucune réponse. Que faire ?",
        "2024年5月4日 我写道：\n没有回复。请问什么时候发货？",
        "On 4 March 2024 at 9:15 I wrote:\nno answer so far. What now?",
    ],
)
def test_what_the_customer_says_that_they_wrote_is_theirs(text: str) -> None:
    """A line with "I wrote" and no mailbox is no mail program's: it stays in the customer's words."""
    assert split_reply(text, "").new.strip() == text


ABOVE_QUOTES = {
    "mutt, a name and a moment": "Support, Mon, Mar 04, 2024 at 09:15:00AM +0100:",
    "mutt, in brackets": "* Support [04-03-24 09:15]:",
    "mutt, in round brackets": "Support Team (2024-03-04 09:15):",
    "gmail hy": "Երկ, 4 մրտ. 2024 թ., 09:15 Support <s@shop.example>-ը գրել է՝",
    "gmail hy, without its colon": "Երկ, 4 մրտ. 2024 թ., 09:15 Support <s@shop.example>-ը գրել է",
    "gmail am": "ሰኞ፣ ማርች 4 2024 በ9:15 ጥዋት Support <s@shop.example> እንዲህ ሲል ጻፈ፦",
    "gmail km": "នៅ ចន្ទ 4 មីនា 2024 នៅ 09:15 Support <s@shop.example> បានសរសេរ៖",
    "gmail my": "၂၀၂၄ မတ် ၄၊ တနင်္လာ ၀၉:၁၅ တွင် Support <s@shop.example> က ရေးခဲ့သည်-",
}


@pytest.mark.parametrize("client", ABOVE_QUOTES)
@pytest.mark.parametrize("gap", ["", "\n"])
def test_a_name_and_a_moment_above_a_quote_stayed_among_the_customers_words(client: str, gap: str) -> None:
    """In scripts with colons of their own, without one, and without "wrote": the shape above a quote is enough."""
    quote = "\n".join(f"> {line}" for line in QUOTED)
    assert split_reply(f"{NEW}\n\n{ABOVE_QUOTES[client]}\n{gap}{quote}\n", "").new.strip() == NEW


@pytest.mark.parametrize(
    "own",
    [
        "Berlin, 5 May, 10:30:",
        "Hotel Adler, Monday, May 5:",
        "The driver (Tom) came on 4 March 2024 at 9:15:",
        "I paid on 4 March 2024 at 9:15 to Shop <pay@shop.example> by card",
        "We met on 2024-03-04, at noon:",
        "On Monday, 4 March 2024 at 9:15 the parcel came:",
        "Պատվիրել եմ 4 մրտ. 2024 թ., 09:15։",
    ],
)
def test_a_line_of_the_customers_above_a_quote_stays(own: str) -> None:
    """A place and a time, or a sentence with a day in it, is what the customer wrote, even right above a quote."""
    quote = "\n".join(f"> {line}" for line in QUOTED)
    assert own in split_reply(f"{NEW}\n\n{own}\n{quote}\n", "").new


NOTES_HEADS = {
    "labels below the writer": "Support <s@shop.example>\n04.03.2024 09:15\n\nAn\nann@x.example\nKopie\n\nThema\nRe: Tag",
    "labels in a column": (
        "             Support\n             <s@shop.example>\n"
        "                                                                           To\n"
        "             03/04/2024 09:15          ann@x.example\n"
        "             AM                                                         cc\n\n"
        "                                                                   Subject\n"
        "                                       Re: day"
    ),
    "details of a picture": (
        "Inactive hide details for Support---03/04/2024 09:15:22 AM---please confirm\n\n"
        "From: Support <s@shop.example>\nTo: ann@x.example\nDate: 03/04/2024 09:15 AM\nSubject: Re: day"
    ),
}


@pytest.mark.parametrize("head", NOTES_HEADS)
def test_a_head_of_notes_without_colons_stayed_with_the_whole_quote(head: str) -> None:
    """Lotus Notes prints labels apart from their values: what it quotes below, unmarked, was taken for the customer's."""
    quote = "\n".join(QUOTED)
    assert split_reply(f"{NEW}\n\n\n{NOTES_HEADS[head]}\n\n\n{quote}\n", "").new.strip() == NEW


@pytest.mark.parametrize(
    "own",
    [
        "Please print on the label:\n\nTo\nann@x.example\n\nSubject\nbirthday",
        "To\nAnn Lee\n4 March 2024, 9:15\nSubject\nthe lid",
        "It came on 4 March 2024 at 9:15 to ann@x.example, and there was nothing in it but paper.\n\nAn\nAnn\nThema\nDeckel",
    ],
)
def test_a_list_of_the_customers_with_such_labels_stays(own: str) -> None:
    """Labels alone are no head: without the writer and the moment above them they are what the customer wrote."""
    assert split_reply(f"{own}\n\nThanks\n", "").new.strip() == f"{own}\n\nThanks"


@pytest.mark.parametrize("phone", ["Sent from my iPhone", "Von meinem iPhone gesendet"])
def test_a_quote_below_a_phones_line_stayed_above_the_answer(phone: str) -> None:
    """A phone's line stands where its owner begins to type; who answers below the quote left all of it in place."""
    quote = "\n".join(f"> {line}" for line in ("On Mar 4, 2024, at 9:15 AM, Support <s@shop.example> wrote:", *QUOTED))
    new = split_reply(f"{phone}\n\n{quote}\n\n{NEW}\n", "").new
    assert NEW in new
    assert "ZQUOTE" not in new


@pytest.mark.parametrize("line", ["Diese Nachricht wurde von meinem Android Mobiltelefon mit GMX Mail gesendet."])
def test_a_bare_mark_above_an_apps_line_stayed_in_the_text(line: str) -> None:
    """What an app appended is no sentence of the writer's, so the two dashes above it belong to it."""
    said = f"{NEW}\n\n--\n{line}\nAm 04.03.24, 09:15, Support <s@shop.example> schrieb:\nZQUOTE day\n"
    assert split_reply(said, "").new.strip() == NEW
