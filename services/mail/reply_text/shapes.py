"""The shapes that an attribution or a header block is made of, in any language: a date, a time, a mailbox, "wrote".

Every text is `plain` first: digits of any script as ASCII, no marks of direction, one space between words, and at
most `MAX_CHARACTERS` of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# The words by which mail clients announce a quote, a language or a family of them a line.
#
# To teach a language, add its words; they are compared without regard to case.


def _listed(text: str) -> tuple[str, ...]:
    """The phrases of a text that separates them by commas and lines."""
    return tuple(phrase.strip() for line in text.splitlines() for phrase in line.split(",") if phrase.strip())


WROTE = _listed("""
    wrote, writes
    schrieb, schreibt, geschrieben
    a écrit, écrit, a ecrit
    escribió, escribio, escribe, ha escrito
    escreveu, escreve
    ha scritto, scrive, scritto
    schreef, geschreven
    skrev, skriver, skrifaði
    kirjoitti, kirjutas
    napisał, napisała, napisał(a), pisze
    napsal, napsala, napsal(a), napísal, napísala, napísal(a)
    napisao, napisal, napisala, je napisao/la, je napisal/a, piše
    написал, написала, написал(а), пишет, писал, писала, писал(а)
    написав, написала, пише, написа, написао
    írta, ezt írta
    a scris
    έγραψε, εγραψε
    yazdı, yazdi, şunu yazdı, şunları yazdı
    rašė, parašė, rakstīja
    đã viết, viết
    menulis, tulis
    missatge de, va escriure, ha escrit, idatzi du, escribiu
    כתב, כתבה, כתב/ה, ‫כתב
    كتب, كتبت, نوشت
    ने लिखा
""")

QUOTING = _listed("quoting, zitat von, citando, citando a, citat från, in reply to")

NAME_FOLLOWS = _listed("schrieb, schreibt, schreef, skrev, skriver, geschreven, geschrieben")

WROTE_UNSPACED = _listed("写道, 寫道, 写到, のメッセージ, 書きました, 작성, 썼습니다, 보낸 메시지, เขียนว่า")

BEGINNINGS = _listed("""
    on, at, am, um, le, el, em, a, il, in data, il giorno, op, den, d., på
    w dniu, dnia, dne, dňa, dana, u, в, на, от, у, пн, la, în data, pe data de
    στις, tarihinde, ki, pada, vào, vào lúc, בתאריך, ב, في, در, 在, 于, 於, ma, kl.
    missatge de, mensaje de, message de, citando, en, de, tor, ons, tir, man, fre, lør, søn, 2
""")

MONTHS = _listed("""
    jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec
    mär, mai, okt, dez, janv, févr, mars, avr, juin, juil, août, déc
    ene, abr, ago, set, dic, fev, out, gen, mag, giu, lug, ott, mrt, mei, maj, des
    sty, lut, kwi, cze, lip, sie, wrz, paź, lis, gru, led, úno, bře, dub, kvě, čer
    янв, фев, мар, апр, мая, май, июн, июл, авг, сен, окт, ноя, дек
    tammi, helmi, maalis, huhti, touko, kesä, heinä, elo, syys, loka, marras, joulu
    oca, şub, nis, haz, tem, ağu, eyl, eki, kas, ara, márc, ápr, máj, szept
""")

HEADER_LABELS = {
    "from": _listed("""
        from, von, de, da, van, od, från, fra, lähettäjä, от, від, odesílatel, feladó
        expéditeur, remitente, mittente, afzender, absender, avsändare, afsender, avsender, kimden
        gönderen, από, מאת, من, 发件人, 發件人, 寄件者, 寄件人, 差出人, 送信者, 보낸 사람, 보낸사람, từ, dari
        expeditor, de la, remetente, pošiljatelj, saatja, siuntėjas, no, nuo, kimden, od koho
        šalje, од, пошиљалац, подател, від кого, frá, daripada, از, فرستنده, จาก, ผู้ส่ง, प्रेषक, से, প্রেরক
        অন্তর্গত, அனுப்புநர், кімнен, մեկնողը, mula kay
    """),
    "sent": _listed("""
        sent, date, gesendet, gesendet am, datum, envoyé, date d'envoi, enviado, enviado el, enviada em
        fecha, data, inviato, verzonden, wysłano, wysłane, skickat, sendt, dato, dátum, lähetetty
        päivämäärä, päiväys, отправлено, дата, надіслано, odesláno, odoslané, elküldve, küldve, trimis
        gönderildi, tarih, gönderme tarihi, ημερομηνία, στάλθηκε, נשלח, תאריך, التاريخ, تاريخ الإرسال
        发送时间, 发送日期, 日期, 發送時間, 寄件日期, 傳送時間, 送信日時, 日付, 日時, 보낸 날짜, 날짜, đã gửi, ngày
        dikirim, tanggal, saadetud, išsiųsta, nosūtīts, poslano, sendt den, sent at, 时间
        изпратено, изпратено на, изпратено:, послато, датум, enviat, dihantar, tarikh, ส่ง, ส่งเมื่อ, วันที่, ส่งวันที่
        भेजा गया, भेजने का समय, दिनांक, तारीख, ارسال شده, تاریخ, تم الإرسال, تم إرسالها, أرسلت, পাঠানো হয়েছে, তারিখ
        அனுப்பியது, жіберілді, datums, data wysłania, kuupäev, dagsetning, ipinadala
    """),
    "to": _listed("""
        to, an, à, para, a, aan, do, till, til, vastaanottaja, кому, komu, címzett, către
        destinataire, destinatario, empfänger, mottagare, kime, alıcı, προς, אל, إلى, 收件人, 收件者
        宛先, 받는 사람, 받는사람, đến, tới, kepada, saaja, kam, gavėjas, prima, za, pro
        до, получател, коме, ถึง, ผู้รับ, प्रति, को, به, گیرنده, per a, adressaat, প্রাপক, প্রতি, பெறுநர், кімге, para kay
    """),
    "cc": _listed("""
        cc, kopie, kopie an, copie, copie à, copia, dw, kopia, kopi, копия, копія, másolatot kap
        bilgi, bcc, kópia, 抄送, 副本, 参照, 참조, κοιν, עותק, نسخة, đồng kính gửi, tembusan
        копие, สำเนา, สำเนาถึง, प्रतिलिपि, رونوشت, kp, afrit
    """),
    "subject": _listed("""
        subject, betreff, thema, objet, asunto, assunto, oggetto, onderwerp, temat, ämne, emne, aihe, тема
        předmět, predmet, tárgy, subiect, konu, θέμα, נושא, الموضوع, موضوع, 主题, 主題, 主旨, 件名, 标题
        제목, chủ đề, tiêu đề, perihal, subjek, teema, tema, assumpte, gaia, naslov, vec, věc
        относно, наслов, zadeva, เรื่อง, หัวข้อ, विषय, efni, tēma, тақырып, বিষয়, பொருள், paksa
    """),
    "reply": _listed("""
        reply-to, reply to, antwort an, répondre à, responder a, responder para, rispondi a, risposta
        beantwoorden, antwoord aan, svara till, svar til, ответить, 返信先, 回复, 回复收件人, importance
        priority, attachments, anlagen, wichtigkeit, pièces jointes, allegati, bijlagen, vedlegg, priorité
    """),
}

SEPARATORS = _listed("""
    original message, original-nachricht, ursprüngliche nachricht, originalnachricht, original e-mail
    message d'origine, message original, message initial, mensaje original, mensagem original
    messaggio originale, messaggio inoltrato, oorspronkelijk bericht, origineel bericht, oprindelig meddelelse
    oprindelig besked, originalmeddelelse, opprinnelig melding, ursprungligt meddelande, originalmeddelande
    alkuperäinen viesti, wiadomość oryginalna, oryginalna wiadomość, původní zpráva, pôvodná správa
    исходное сообщение, оригинальное сообщение, пересылаемое сообщение, вихідне повідомлення
    eredeti üzenet, mesaj original, orijinal mesaj, özgün ileti, orijinal ileti, αρχικό μήνυμα
    원본 메시지, 원본 메일, original mail, 元のメッセージ, original, 原始邮件, 原始郵件, 原邮件, 原始信件, 邮件原件
    הודעה מקורית, رسالة أصلية, الرسالة الأصلية, pesan asli, thư gốc, tin nhắn gốc, izvorna poruka
    antwort nachricht, antwortnachricht, reply message, reply above this line, please reply above this line
    reply separator, original post
""")

FORWARDS = _listed("""
    forwarded message, forwarded by, begin forwarded message, forwarded mail, weitergeleitete nachricht
    anfang der weitergeleiteten nachricht, message transféré, début du message transféré
    début du message réexpédié
    mensaje reenviado, inicio del mensaje reenviado, mensagem encaminhada, início da mensagem encaminhada
    início da mensagem reencaminhada, messaggio inoltrato, inizio messaggio inoltrato, doorgestuurd bericht
    begin doorgestuurd bericht, vidarebefordrat meddelande, vidarebefordrat brev, videresendt meddelelse
    videresendt melding, start på videresendt besked, välitetty viesti, wiadomość przekazana dalej
    przekazana wiadomość, přeposlaná zpráva, пересланное сообщение, переслане повідомлення, továbbított üzenet
    mesaj redirecționat, iletilmiş mesaj, yönlendirilmiş ileti, προωθημένο μήνυμα, 転送メッセージ, 转发邮件, 转发的邮件
    轉寄郵件, 전달된 메시지, הודעה שהועברה, رسالة محولة, pesan terusan, thư đã chuyển tiếp, пересылаемое сообщение
    开始转发的邮件, 以下は転送メッセージです
""")

SENT_FROM = (
    r"(?:sent|posted|written|typed) (?:from|via|with|by|using|on)\b.{0,80}",
    r"from my (?:i?phone|ipad|ipod|mobile|android|blackberry|galaxy|htc|tablet)\b.{0,60}",
    r".{0,30}\bfrom (?:my )?(?:mobile|cell(?:phone)?|phone)",
    r"(?:get|download|try) \S{0,2}(?:outlook|yahoo mail|bluemail|spark|proton ?mail|my mail)\b.{0,120}",
    r"[^<>]{0,60}\boutlook\b[^<>]{0,40}<https://aka\.ms/[^<>\s]{1,60}>.{0,30}",
    r"(?:gesendet|versendet|verschickt|geschickt) (?:von|vom|mit|aus|über|via)\b.{0,80}",
    r"von (?:meinem|meiner) .{1,60}(?:gesendet|geschickt|verschickt|gesandt)",
    r"diese nachricht wurde (?:von|mit) .{1,90} (?:gesendet|verschickt|versandt)",
    r"(?:envoyé|envoyée|expédié|posté)(?:\(e\))? (?:depuis|de|à partir d|avec|via|par)\b.{0,80}",
    r"(?:obtenez|téléchargez|holen sie sich|descarga|obtener|obter|scarica|ottieni|hämta|hent) outlook .{0,80}",
    r"(?:enviado|enviada|mandado) (?:desde|de|do|da|dende|a partir|con|com|por|via|mediante|pelo)\b.{0,80}",
    r"(?:inviato|inviata|spedito) (?:da|dal|dall'|con|tramite|mediante)\W?.{0,80}",
    r"(?:verzonden|verstuurd|gestuurd) (?:met|vanaf|van|via|vanuit|door)\b.{0,80}",
    r"(?:sendt|sent|skickat|sänt) (?:fra|från|via|med|gjennom)\b.{0,80}",
    r"(?:lähetetty|saadetud|nosūtīts|išsiųsta) .{0,80}",
    r"(?:wysłane|wysłano|odesláno|odoslané|poslano|poslané|poslato) (?:z|ze|zo|s|sa|iz|pomocą|za)\b.{0,80}",
    r"(?:trimis|trimisă) (?:de|din|cu)\b.{0,80}",
    r"(?:отправлено|послано|надіслано|відправлено|изпратено) (?:с|со|из|от|з|із|через|от|моб)\b.{0,80}",
    r".{0,40}(?:['’]?(?:um|üm|ım|im)?(?:dan|den)) gönderildi",
    r"(?:στάλθηκε|αποστολή|εστάλη) (?:από|με)\b.{0,80}",
    r"elküldve .{1,60}|.{1,40}(?:készülékemről|ról|ről) küldve|küldve .{1,60}",
    r"(?:đã gửi từ|được gửi từ|gửi từ|dikirim dari|dihantar dari)\b.{0,80}",
    r"(?:發自|从|從|发自|寄自|來自|来自)我的? ?.{1,40}|(?:发送自|傳送自|發送自).{1,40}|.{1,30}(?:傳送|发送|發送)",
    r".{1,40}から送信(?:しました|されました)?",
    r"(?:나의 |내 )?.{1,30}에서 (?:보냄|보낸 .{0,20}|전송.{0,10})",
    r"(?:poslano|изпратено|изпратена|испратено|послато) .{1,80}",
    r"ส่งจาก.{1,80}|.{1,60} से भेजा गया|নিবেদিত .{1,60}|.{1,60} থেকে পাঠানো",
    r"(?:enviat|tramesa|bidalia|sent|send) (?:des de|des del|amb|nire)\b.{0,80}",
    r"(?:נשלח מ|أُ?رسلت? من|تم الإرسال من|ارسال شده از).{0,60}",
)

DEVICES = _listed("""
    iphon, ipad, ipod, apple, macbook, android, samsung, galaxy, xiaomi, redmi, huawei, honor, oppo, vivo, oneplus
    pixel, nokia, sony, xperia, htc, motorola, blackberry, windows, surface, thinkpad, mobil, móvil, cell, phone, fon
    handy, tablet, smart, device, gerät, appareil, dispositivo, telefon, telefón, teléfono, telefono, téléphone
    celular, outlook, yahoo, gmail, google, mail, e-post, courrier, correo, posta, poczt, aol, gmx, web.de, t-online
    proton, tuta, spark, superhuman, thunderbird, boxer, newton, zoho, yandex, icloud, app, http, www., laptop, computer
    ordinateur
    яндекс, почт, телефон, устройств, смартфон, мобиль, мобил, пошт, айфон, τηλέφωνο, κινητό, συσκευή
    手机, 手機, 電話, 携帯, スマートフォン, スマホ, タブレット, 휴대, 핸드폰, 스마트폰, điện thoại, ponsel, puhelim
    טלפון, נייד, אייפון, هاتف, جوال, موبايل, آيفون, آیفون, گوشی, มือถือ, โทรศัพท์, ไอโฟน, फ़ोन, फोन, मोबाइल
    készülék, sími, telefoni, telefonas, tālru
""")

DISCLAIMERS = _listed("""
    confidential, privileged, intended recipient, disclaimer, unsubscribe, mailing list, virus
    vertraulich, rechtlich geschützt, confidentiel, destinataire, confidencial, destinatario, riservat
    vertrouwelijk, konfidentiell, fortrolig, poufn, конфиденциальн, gizli, please consider the environment
    registered office, amtsgericht, geschäftsführer, handelsregister, siège social, 機密, 保密
""")


# Lines that stand in a text for what an HTML mail says by its markup; private-use characters no mail needs.
OLDER_MAIL = "\U000f6d01"
SIGNATURE = "\U000f6d02"
ATTRIBUTION = "\U000f6d03"
SIGNATURE_END = "\U000f6d04"

KINDS = {OLDER_MAIL: "SEPARATOR", SIGNATURE: "MARK", ATTRIBUTION: "ATTRIBUTION", SIGNATURE_END: "EMPTY"}


def without_marks(text: str) -> str:
    """`text` with no such character, so that a mail cannot set them itself."""
    for one in KINDS:
        text = text.replace(one, "")  # no copy of a text without it, which `translate` makes of every one
    return text


MAX_CHARACTERS = 400

_DIRECTION = dict.fromkeys([0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF])
_YEAR = r"(?:19|20|25)\d\d(?!\d)"


def any_of(choices: Iterable[str]) -> str:
    """The alternatives of a pattern, the longest first."""
    return "|".join(re.escape(choice) for choice in sorted(set(choices), key=len, reverse=True))


_MONTH = rf"(?:{any_of(MONTHS)})[^\W\d_]{{0,12}}"
_DATE = re.compile(
    rf"(?<![\d.:])\d{{1,4}}[./-] ?\d{{1,2}}[./-] ?\d{{1,4}}(?![\d:])"
    rf"|(?<!\d)\d{{1,2}}(?![\d:h])\D{{1,24}}(?<!\d){_YEAR}|(?<!\d){_YEAR}\D{{1,24}}(?<!\d)\d{{1,2}}(?![\d:])"
    rf"|(?<!\w)(?:\d{{1,2}}[-/.])?{_MONTH}[-/.]\d{{1,2}}(?!:)"
    rf"|\d{{4}} ?[年년]|\d{{1,2}} ?[月월] ?\d{{1,2}}"
    rf"|(?<![\d:.])\d{{1,2}}(?:st|nd|rd|th)?\.? (?:de |of )?{_MONTH}|\b{_MONTH}\.? \d{{1,2}}\b(?!:)",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_TIME = re.compile(
    r"(?<![\d/-])\d{1,2} ?[:.hH時时시点點] ?\d{2}(?!\d|[./]\d)|(?<!\d)\d{1,2} ?(?:[ap]\.?m\b|[時时시点點])",
    re.IGNORECASE,
)
_MAILBOX = re.compile(r"(?<![^\s<>\"'(:;,=])[^\s<>\"'(:;,@]{1,100}@[^\s<>\"'(),;:@]{1,200}")
_BRACKETED = re.compile(r"[<(\[]\s?[^\s<>()\[\]@]{1,100}@[^\s<>()\[\]@]{1,200}\s?[>)\]]")
_VERB = re.compile(rf"(?<!\w)(?:{any_of(WROTE)})(?!\w)|(?:{any_of(WROTE_UNSPACED)})", re.IGNORECASE)


def plain(text: str) -> str:
    """`text` as shapes are looked for in it."""
    text = " ".join(text[:MAX_CHARACTERS].translate(_DIRECTION).split())
    return text if text.isascii() else "".join(map(_ascii_digit, text))


def _ascii_digit(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return character


def has_date(text: str) -> bool:
    """Whether a plain text names a day. Most lines have no digit, and are asked nothing more."""
    return bool(_DIGIT.search(text) and _DATE.search(text))


def has_time(text: str) -> bool:
    """Whether a plain text names a time of day."""
    return bool(_DIGIT.search(text) and _TIME.search(text))


def has_mailbox(text: str) -> bool:
    """Whether a plain text names a mailbox."""
    return bool(_MAILBOX.search(text))


def has_bracketed_mailbox(text: str) -> bool:
    """Whether a plain text names a mailbox in brackets, as mail programs do and people rarely."""
    return bool(_BRACKETED.search(text))


def last_bracketed_mailbox(text: str) -> int:
    """Where the last bracketed mailbox of a plain text ends; 0 without one."""
    return max((found.end() for found in _BRACKETED.finditer(text)), default=0)


def has_verb(text: str) -> bool:
    """Whether a plain text holds a word for "wrote"."""
    return bool(_VERB.search(text))
