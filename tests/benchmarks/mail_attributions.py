"""How mail programs announce a quote, written from their formats: about a hundred, in more than thirty languages.

`{W}` is a weekday, `{B}` a month in words, `{d}` `{m}` `{y}` and `{H}` `{M}` numbers, `{h}` an hour of twelve, `{name}` and
`{box}` whom the quoted mail is from. A format with a mailbox and a date is understood above any quote, one without only
above a marked one.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

_WORDS = {
    "en": ("Mon Tue Fri", "Jan Mar May Aug Oct Dec"),
    "hy": ("Երկ Երք Կիր", "հնվ. մրտ. մյս. հոկ."),
    "en-long": ("Monday Thursday Sunday", "January March May September November"),
    "de": ("Mo. Di. Fr.", "Jan. März Mai Aug. Okt. Dez."),
    "de-long": ("Montag Donnerstag Sonntag", "Januar März Mai September Oktober"),
    "fr": ("lun. jeu. dim.", "janv. mars mai août oct. déc."),
    "fr-long": ("lundi jeudi dimanche", "janvier mars mai août octobre"),
    "es": ("lun jue dom", "ene mar may ago oct dic"),
    "es-long": ("lunes jueves domingo", "enero marzo mayo agosto octubre"),
    "pt": ("seg. qui. dom.", "jan. mar. mai. ago. out. dez."),
    "pt-long": ("segunda-feira quinta-feira domingo", "janeiro março maio agosto outubro"),
    "it": ("lun gio dom", "gen mar mag ago ott dic"),
    "nl": ("ma do zo", "jan mrt mei aug okt dec"),
    "sv": ("mån tors sön", "jan. mars maj aug. okt. dec."),
    "da": ("man. tor. søn.", "jan. mar. maj aug. okt. dec."),
    "no": ("man. tor. søn.", "jan. mars mai aug. okt. des."),
    "fi": ("ma to su", "tammik. maalisk. toukok. elok. lokak."),
    "pl": ("pon. czw. niedz.", "sty mar maj sie paź gru"),
    "cs": ("po čt ne", "led bře kvě srp říj pro"),
    "hu": ("H Cs V", "jan. márc. máj. aug. okt. dec."),
    "ro": ("lun. joi dum.", "ian. mar. mai aug. oct. dec."),
    "ru": ("пн чт вс", "янв. мар. мая авг. окт. дек."),
    "ru-long": ("понедельник четверг воскресенье", "января марта мая августа октября"),
    "uk": ("пн чт нд", "січ. бер. трав. серп. жовт. груд."),
    "bg": ("пн чт нд", "01 03 05 08 10 12"),
    "el": ("Δευ Πέμ Κυρ", "Ιαν Μαρ Μαΐ Αυγ Οκτ Δεκ"),
    "tr": ("Pzt Per Paz", "Oca Mar May Ağu Eki Ara"),
    "he": ("יום_ב׳ יום_ה׳ יום_א׳", "בינו׳ במרץ במאי באוג׳ באוק׳ בדצמ׳"),
    "ar": ("الاثنين الخميس الأحد", "يناير مارس مايو أغسطس أكتوبر"),
    "fa": ("دوشنبه پنجشنبه یکشنبه", "ژانویهٔ مارس مهٔ اوت اکتبر"),
    "hi": ("सोम गुरु रवि", "जन॰ मार्च मई अग॰ अक्टू॰ दिस॰"),
    "bn": ("সোম বৃহস্পতি রবি", "জানু মার্চ মে আগস্ট অক্টো"),
    "ta": ("திங். வியா. ஞாயி.", "ஜன. மார். மே ஆக. அக்."),
    "th": ("จ. พฤ. อา.", "ม.ค. มี.ค. พ.ค. ส.ค. ต.ค. ธ.ค."),
    "ja": ("月 木 日", "1 3 5 8 10 12"),
    "zh": ("周一 周四 周日", "1 3 5 8 10 12"),
    "tw": ("週一 週四 週日", "1 3 5 8 10 12"),
    "ko": ("월 목 일", "1 3 5 8 10 12"),
    "vi": ("2 5 CN", "1 3 5 8 10 12"),
    "id": ("Sen Kam Min", "Jan Mar Mei Agu Okt Des"),
    "ms": ("Isn Kha Aha", "Jan Mac Mei Ogo Okt Dis"),
    "sl": ("pon. čet. ned.", "jan. mar. maj avg. okt. dec."),
    "hr": ("pon čet ned", "sij ožu svi kol lis pro"),
    "sr": ("пон чет нед", "јан мар мај авг окт дец"),
    "lt": ("pr kt sk", "01 03 05 08 10 12"),
    "lv": ("pirmd. ceturtd. svētd.", "janv. marts maijs aug. okt. dec."),
    "et": ("E N P", "jaanuar märts mai august oktoober"),
    "ca": ("dl. dj. dg.", "gen. març maig ag. oct. des."),
    "tl": ("Lun Huw Lin", "Ene Mar May Ago Okt Dis"),
    "sw": ("Jtt Alh Jpi", "Jan Mac Mei Ago Okt Des"),
    "is": ("mán. fim. sun.", "jan. mar. maí ágú. okt. des."),
}

FORMATS = """
gmail en|en|On {W}, {B} {d}, {y} at {h}:{M} AM {name} <{box}> wrote:
gmail en-gb|en|On {W}, {d} {B} {y} at {H}:{M}, {name} <{box}> wrote:
apple en|en|On {d} {B} {y}, at {H}:{M}, {name} <{box}> wrote:
apple en-us|en|On {B} {d}, {y}, at {h}:{M} AM, {name} <{box}> wrote:
yahoo en|en-long|On {W}, {B} {d}, {y} at {h}:{M}:00 AM GMT+1, {name} <{box}> wrote:
yahoo old|en|--- On {W}, {m}/{d}/{y}, {name} <{box}> wrote:
thunderbird en|en|On {m}/{d}/{y} {h}:{M} AM, {name} wrote:
thunderbird iso|en|On {y}-{m}-{d} {H}:{M}, {name} wrote:
mutt|en|On {W}, {B} {d}, {y} at {H}:{M}:00AM +0100, {name} wrote:
evolution|en|On {W}, {y}-{m}-{d} at {H}:{M} +0100, {name} wrote:
kmail|en-long|On {W}, {d} {B} {y} {H}:{M}:00 CET {name} wrote:
mutt name|en|{name}, {W}, {B} {d}, {y} at {H}:{M}:00AM +0100:
gnus|en|{name} <{box}> writes:
fastmail|en|On {W}, {B} {d}, {y}, at {h}:{M} AM, {name} wrote:
proton|en-long|On {W}, {B} {d}th, {y} at {h}:{M} AM, {name} <{box}> wrote:
tuta|en|{B} {d}, {y}, {H}:{M} by {box}:
zoho|en|---- On {W}, {d} {B} {y} {H}:{M}:00 +0100 {name} <{box}> wrote ----
zoho tight|en|---- On {W}, {d} {B} {y} {H}:{M}:00 +0100 {name}<{box}> wrote ---
spark|en|On {d} {B} {y} at {H}:{M} +0100, {name} <{box}>, wrote:
netease en|en|At {y}-{m}-{d} {H}:{M}:00, "{name}" <{box}> wrote:
em client|en|On {m}/{d}/{y} {h}:{M}:00 AM, {name} ({box}) wrote:
zendesk|en|On {W}, {d} {B} at {h}:{M} AM , {name} <{box}> wrote:
horde|en|Quoting {name} <{box}>:
hey|en-long|On {B} {d}, {y}, {name} <{box}> wrote:
no colon|en|On {W}, {B} {d}, {y} at {h}:{M} AM {name} <{box}> wrote
time first|en|{H}:{M}, {d} {B} {y}, {name} <{box}>:
gmail de|de|Am {W}, {d}. {B} {y} um {H}:{M} Uhr schrieb {name} <{box}>:
thunderbird de|de|Am {d}.{m}.{y} um {H}:{M} schrieb {name}:
apple de|de|Am {d}.{m}.{y} um {H}:{M} schrieb {name} <{box}>:
roundcube de|de|Am {y}-{m}-{d} {H}:{M}, schrieb {name}:
kmail de|de-long|Am {W}, {d}. {B} {y}, {H}:{M}:00 CET schrieb {name}:
tuta de|de-long|{d}. {B} {y}, {H}:{M} von {box}:
gmx de|de|{name} <{box}> schrieb am {d}.{m}.{y} um {H}:{M}:
horde de|de|Zitat von {name} <{box}>:
gmail fr|fr|Le {W} {d} {B} {y} à {H}:{M}, {name} <{box}> a écrit :
thunderbird fr|fr|Le {d}/{m}/{y} à {H}:{M}, {name} a écrit :
yahoo fr|fr-long|Le {W} {d} {B} {y} à {H}:{M}:00 UTC+1, {name} <{box}> a écrit :
gmail es|es|El {W}, {d} {B} {y} a las {H}:{M}, {name} (<{box}>) escribió:
apple es|es|El {d} {B} {y}, a las {H}:{M}, {name} <{box}> escribió:
yahoo es|es-long|El {W}, {d} de {B} de {y}, {H}:{M}:00 CET, {name} <{box}> escribió:
gmail pt|pt|Em {W}, {d} de {B} de {y} às {H}:{M}, {name} <{box}> escreveu:
apple pt|pt-long|No dia {d} de {B} de {y}, às {H}:{M}, {name} <{box}> escreveu:
gmail it|it|Il giorno {W} {d} {B} {y} alle ore {H}:{M} {name} <{box}> ha scritto:
thunderbird it|it|Il {d}/{m}/{y} {H}:{M}, {name} ha scritto:
gmail nl|nl|Op {W} {d} {B} {y} om {H}:{M} schreef {name} <{box}>:
thunderbird nl|nl|Op {d}-{m}-{y} om {H}:{M} schreef {name}:
gmail sv|sv|Den {W} {d} {B} {y} kl {H}:{M} skrev {name} <{box}>:
apple sv|sv|{d} {B} {y} kl. {H}:{M} skrev {name} <{box}>:
gmail da|da|Den {W} {d}. {B} {y} kl. {H}.{M} skrev {name} <{box}>:
gmail no|no|{W} {d}. {B} {y} kl. {H}:{M} skrev {name} <{box}>:
gmail fi|fi|{W} {d}. {B} {y} klo {H}.{M} {name} ({box}) kirjoitti:
gmail pl|pl|{W}, {d} {B} {y} o {H}:{M} {name} <{box}> napisał(a):
thunderbird pl|pl|W dniu {d}.{m}.{y} o {H}:{M}, {name} pisze:
gmail cs|cs|{W} {d}. {m}. {y} v {H}:{M} odesílatel {name} <{box}> napsal:
thunderbird cs|cs|Dne {d}. {m}. {y} v {H}:{M} {name} napsal(a):
gmail sk|cs|{W} {d}. {m}. {y} o {H}:{M} {name} <{box}> napísal(a):
gmail hu|hu|{name} <{box}> ezt írta (időpont: {y}. {B} {d}., {W}, {H}:{M}):
gmail ro|ro|Pe {W}, {d} {B} {y} la {H}:{M}, {name} <{box}> a scris:
gmail ru|ru|{W}, {d} {B} {y} г. в {H}:{M}, {name} <{box}>:
mail.ru|ru-long|{W}, {d} {B} {y}, {H}:{M} +03:00 от {name} <{box}>:
yandex|ru|{d}.{m}.{y}, {H}:{M}, "{name}" <{box}>:
yandex time first|ru-long|{H}:{M}, {d} {B} {y} г., {name} <{box}>:
thunderbird ru|ru|{d}.{m}.{y} {H}:{M}, {name} пишет:
gmail uk|uk|{W}, {d} {B} {y} р. о {H}:{M} {name} <{box}> пише:
gmail bg|bg|На {W}, {d}.{m}.{y} г. в {H}:{M} {name} <{box}> написа:
gmail el|el|Στις {W} {d} {B} {y} στις {H}:{M} π.μ., ο χρήστης {name} <{box}> έγραψε:
gmail tr|tr|{name} <{box}>, {d} {B} {y} {W}, {H}:{M} tarihinde şunu yazdı:
gmail he|he|‫בתאריך {W}, {d} {B} {y} ב-{H}:{M} מאת ‪{name}‬‏ <‪{box}‬‏>:‬
gmail ar|ar|في {W}، {d} {B} {y} في {H}:{M} ص تمت كتابة ما يلي بواسطة {name} <{box}>:
gmail ar digits|ar|في {W}، {ad} {B} {ay} في {aH}:{aM} ص، كتب {name} <{box}>:
gmail fa|fa|در تاریخ {W} {fd} {B} {fy}، {H}:{M} {name} <{box}> نوشت:
gmail hi|hi|{W}, {d} {B} {y} को {H}:{M} am बजे को {name} <{box}> ने लिखा:
gmail hi digits|hi|{W}, {hd} {B} {hy} को {H}:{M} पूर्वाह्न को {name} <{box}> ने लिखा:
gmail bn|bn|{W}, {d} {B}, {y} তারিখে {H}:{M} AM টায় তে {name} <{box}> লিখেছেন:
gmail ta|ta|{W}, {d} {B}, {y} அன்று, முற்பகல் {H}:{M} மணிக்கு, {name} <{box}> எழுதியது:
gmail th|th|ในวันที่ {W} {d} {B} {y} เวลา {H}:{M} {name} <{box}> เขียนว่า:
gmail th buddhist|th|เมื่อ {W} {d} {B} {by} เวลา {H}:{M} {name} <{box}> เขียนว่า:
outlook mobile th|th|เมื่อ {d} {B} {y} {H}:{M} น., {name} <{box}> เขียน:
gmail ja|ja|{y}年{B}月{d}日({W}) {H}:{M} {name} <{box}>:
apple ja|ja|{y}/{m}/{d} {H}:{M}、{name} <{box}>のメール:
thunderbird ja|ja|On {y}/{m}/{d} {H}:{M}, {name} wrote:
gmail zh|zh|{name} <{box}> 于{y}年{B}月{d}日{W} {H}:{M}写道：
apple zh|zh|在 {y}年{B}月{d}日，{H}:{M}，{name} <{box}> 写道：
netease zh|zh|在 {y}-{m}-{d} {H}:{M}:00，"{name}" <{box}> 写道：
gmail tw|tw|{name} <{box}> 於 {y}年{B}月{d}日 {W} 上午{H}:{M}寫道：
gmail ko|ko|{y}년 {B}월 {d}일 ({W}) 오전 {H}:{M}, {name} <{box}>님이 작성:
gmail vi|vi|Vào Th {W}, {d} thg {B}, {y} vào lúc {H}:{M} {name} <{box}> đã viết:
gmail id|id|Pada tanggal {W}, {d} {B} {y} pukul {H}.{M} {name} <{box}> menulis:
gmail ms|ms|Pada {W}, {d} {B} {y} pada {H}:{M} PG {name} <{box}> menulis:
gmail sl|sl|V V {W}, {d}. {B} {y} ob {H}:{M} je oseba {name} <{box}> napisala:
gmail hr|hr|{W}, {d}. {B} {y}. u {H}:{M} {name} <{box}> napisao je:
gmail sr|sr|{W}, {d}. {B} {y}. у {H}:{M} {name} <{box}> је написао/ла:
gmail lt|lt|{y}-{m}-{d}, {W}, {H}:{M} {name} <{box}> rašė:
gmail lv|lv|{W}, {y}. g. {d}. {B}, plkst. {H}:{M} — lietotājs {name} (<{box}>) rakstīja:
gmail et|et|Kuupäev {W}, {d}. {B} {y} kell {H}:{M} kirjutas kasutaja {name} (<{box}>):
gmail ca|ca|Missatge de {name} <{box}> del dia {W}, {d} de {B} {y} a les {H}:{M}:
gmail tl|tl|Noong {W}, {B} {d}, {y} nang {h}:{M} AM, sinulat ni {name} <{box}> ang:
gmail sw|sw|Mnamo {W}, {d} {B} {y} saa {H}:{M}, {name} <{box}> aliandika:
gmail hy|hy|{W}, {d} {B} {y} թ., {H}:{M} {name} <{box}>-ը գրել է՝
gmail is|is|Þann {W}, {d}. {B} {y} kl. {H}:{M} skrifaði {name} <{box}>:
"""

BLOCKS = """
outlook en|en-long|From: {name} <{box}>^Sent: {W}, {B} {d}, {y} {h}:{M} AM^To: Ann Lee <ann@customer.example>^Subject: RE: Your order
outlook mac|en-long|From: {name} <{box}>^Date: {W}, {d} {B} {y} at {H}:{M}^To: Ann Lee <ann@customer.example>^Subject: Re: Your order
samsung|en|-------- Original message --------^From: {name} <{box}>^Date: {d}/{m}/{y} {H}:{M} (GMT+01:00)^To: Ann Lee <ann@customer.example>^Subject: Your order
outlook de|de-long|Von: {name} <{box}>^Gesendet: {W}, {d}. {B} {y} {H}:{M}^An: Ann Lee <ann@customer.example>^Betreff: AW: Ihre Bestellung
t-online|de|-----Antwort Nachricht-----^Von: {name} <{box}>^Datum: {d}.{m}.{y} {H}:{M}^An: ann@customer.example^Betreff: Ihre Bestellung
outlook fr|fr-long|De : {name} <{box}>^Envoyé : {W} {d} {B} {y} {H}:{M}^À : Ann Lee <ann@customer.example>^Objet : RE: Votre commande
outlook es|es-long|De: {name} <{box}>^Enviado: {W}, {d} de {B} de {y} {H}:{M}^Para: Ann Lee <ann@customer.example>^Asunto: RE: Su pedido
outlook bg|bg|От: {name} <{box}>^Изпратено: {W} {d}.{m}.{y} г. {H}:{M}^До: Ann Lee <ann@customer.example>^Относно: RE: Поръчка
outlook th|th|จาก: {name} <{box}>^ส่ง: {d} {B} {y} {H}:{M}^ถึง: Ann Lee <ann@customer.example>^เรื่อง: RE: คำสั่งซื้อ
outlook sl|sl|Od: {name} <{box}>^Poslano: {W} {d}. {B} {y} {H}:{M}^Za: Ann Lee <ann@customer.example>^Zadeva: RE: Naročilo
outlook hr|hr|Šalje: {name} <{box}>^Poslano: {W} {d}. {B} {y}. {H}:{M}^Prima: Ann Lee <ann@customer.example>^Predmet: RE: Narudžba
outlook ar|ar|من: {name} <{box}>^تم الإرسال: {W}, {d} {B}, {y} {H}:{M} ص^إلى: Ann Lee <ann@customer.example>^الموضوع: رد: طلبك
outlook hi|hi|प्रेषक: {name} <{box}>^भेजा गया: {W}, {d} {B} {y} {H}:{M}^प्रति: Ann Lee <ann@customer.example>^विषय: RE: आदेश
outlook ja|ja|差出人: {name} <{box}>^送信日時: {y}年{B}月{d}日 {H}:{M}^宛先: Ann Lee <ann@customer.example>^件名: RE: 注文
outlook zh|zh|发件人: {name} <{box}>^发送时间: {y}年{B}月{d}日 {H}:{M}^收件人: Ann Lee <ann@customer.example>^主题: 回复: 订单
outlook ko|ko|보낸 사람: {name} <{box}>^보낸 날짜: {y}년 {B}월 {d}일 {H}:{M}^받는 사람: Ann Lee <ann@customer.example>^제목: RE: 주문
outlook uk|uk|Від: {name} <{box}>^Надіслано: {W}, {d} {B} {y} р. {H}:{M}^Кому: Ann Lee <ann@customer.example>^Тема: RE: Замовлення
outlook rule|en|________________________________^From: {name} <{box}>^Sent: {d} {B} {y} {H}:{M}^To: Ann Lee <ann@customer.example>^Subject: Your order
"""

NAMES = (
    "Shop Support",
    "Bob Miller",
    "Müller, Jürgen",
    "María-José Ruiz",
    "Иван Петров",
    "サポート",
    "José",
    "Support (Shop)",
)
BOXES = ("help@shop.example", "bob.miller+x@mail.shop.example", "no-reply@shop.co.example", "a@b.example")
_DIGITS = {"a": "٠١٢٣٤٥٦٧٨٩", "f": "۰۱۲۳۴۵۶۷۸۹", "h": "०१२३४५६७८९"}


@dataclass(frozen=True, slots=True)
class Announced:
    """What stands above a quote: its lines, the format's name, and whether it is understood above an unmarked quote."""

    format: str
    text: str
    sure: bool


def _listed(table: str, head: bool) -> list[tuple[str, str, str, bool]]:
    rows = (line.split("|", 2) for line in table.strip().splitlines())
    return [(name, words, text, head) for name, words, text in rows]


ALL = (*_listed(FORMATS, False), *_listed(BLOCKS, True))


def drawn(one: tuple[str, str, str, bool], chance: random.Random) -> Announced:
    """A format filled with a date and a writer drawn at random."""
    name, words, text, head = one
    weekdays, months = (part.split(" ") for part in _WORDS[words])
    number = {"d": chance.randint(1, 28), "m": chance.randint(1, 12), "y": chance.randint(2019, 2027)}
    clock = {"H": chance.randint(0, 23), "M": chance.randint(10, 59), "h": chance.randint(1, 12)}
    values = {key: str(value) for key, value in {**number, **clock}.items()}
    values |= {"by": str(number["y"] + 543), "W": chance.choice(weekdays).replace("_", " "), "B": chance.choice(months)}
    values |= {
        script + key: "".join(digits[int(one)] for one in values[key])
        for script, digits in _DIGITS.items()
        for key in ("d", "y", "H", "M")
    }
    values |= {"name": chance.choice(NAMES), "box": chance.choice(BOXES)}
    filled = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], text).replace("^", "\n")
    return Announced(name, filled, head or ("{box}" in text and "{y}" in text))
