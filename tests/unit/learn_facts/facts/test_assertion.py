"""In what mood a customer's sentence says a value, by the words around it."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.assertion import Mood, confirms, mood_of
from services.learn_facts.facts.clauses import clauses_saying
from services.learn_facts.facts.others import About, speaks_of_the_author
from services.memory.quotes import Span
from tests.support.cpu import at_most

ASSERTED = [
    ("Team", "We are on the Team plan, how do I add seats?"),
    ("555-0101", "My name is Peter and I am at 555-0101."),
    ("555-0101", "My name is Walter and you reach me under 555-0101."),
    ("Team", "Since we are on the Team plan, can we export to CSV?"),
    ("Team", "Estamos en el plan Team, ¿podemos exportar?"),
    ("Team", "Wir haben den Tarif Team, wie kann ich exportieren?"),
    ("Team", "Nous avons le forfait Team, comment exporter ?"),
    ("Team", "Mamy plan Team, jak możemy eksportować?"),
    ("Team", "I told you that we are on the Team plan."),
    ("Team", "As I said before, we are on the Team plan."),
    ("Team", "I would like to tell you that we are on the Team plan."),
    ("Team", "Sí, estamos en el plan Team."),
    ("Team", "Unser Vertrag wurde auf Team umgestellt."),
    ("Zwolle", "Sinds deze week zitten wij in Zwolle."),
    ("Team", "As of the first of this month we are on the Team plan."),
    ("Bonn", "Seit dieser Woche sind wir in Bonn."),
    ("Team", "No problem, we are on the Team plan."),
    ("Team", "No, we are on the Team plan."),
    ("Team", "We used to be on Starter, but now we are on Team."),
    ("Team", "Früher hatten wir Starter, jetzt haben wir Team."),
    ("Team", "Non siamo più su Starter, adesso siamo su Team."),
    ("Team", "We were upgraded to Team last week."),
    ("Team", "On a dû passer à Team."),
    ("555-0101", "If you need me, my number is 555-0101."),
    ("555-0101", "Falls etwas ist, meine Nummer ist 555-0101."),
    ("555-0101", "Could you call me on 555-0101?"),
    ("555-0101", "Could you please update my phone number to 555-0101?"),
    ("555-0101", "My number is 555-0101, can you call me?"),
    ("555-0101", "My colleague is away; my number is 555-0101."),
    ("1500", "We have 1,500 seats."),
    ("Porto", "Agora estamos no Porto."),
    ("Berlin", "Nein, wir sitzen in Berlin."),
    ("Munich", "Wir sind nach München umgezogen."),
    ("48", "With those who joined in May we are at 48 seats."),
    ("CTO", "As the new CTO I will be your contact."),
    ("Team", "Your invoice says Starter, but we are on Team."),
    ("Team", "Before we moved to Team we were on Starter."),
    ("Team", "No doubt we are on Team."),
    ("Dresden", "Our customers asked for it, so we moved the office to Dresden."),
    ("Lisbon", "My partner and I live in Lisbon."),
    ("555-0101", "I am away today, but my number is 555-0101."),
    ("555-0101", "New phone, new number: 555-0101. The old one is dead."),
    ("Team", "Wij zijn vorige week overgestapt op het abonnement Team."),
    ("Team", "Dr. Kern half uns, tylko Team mamy."),
    ("18", "我的会员号是18，不是81。"),
]
NOT_ASSERTED: list[tuple[Mood, str, str]] = [
    ("asks", "Team", "Are we still on the Team plan?"),
    ("asks", "Team", "Can you confirm that we are on the Team plan?"),
    ("asks", "Team", "Is it right that our plan is Team and that it renews in May?"),
    ("asks", "Team", "We are on the Team plan, right?"),
    ("asks", "Team", "Sind wir noch im Tarif Team?"),
    ("asks", "Team", "Sommes-nous encore sur Team ?"),
    ("asks", "Team", "¿Seguimos en el plan Team?"),
    ("asks", "Team", "Siamo ancora sul piano Team?"),
    ("asks", "Team", "Ainda estamos no plano Team?"),
    ("asks", "Team", "Zitten we nog op Team?"),
    ("asks", "Team", "Czy nadal mamy plan Team?"),
    ("asks", "Team", "I am not sure whether we are on the Team plan."),
    ("asks", "Team", "Ich weiß nicht, ob wir den Tarif Team haben."),
    ("asks", "555-0101", "Do you still have 555-0101 as my number?"),
    ("supposes", "300", "If we had 300 users, the price would change."),
    ("supposes", "300", "If we grew and had 300 users, we would pay more."),
    ("supposes", "Team", "Unless we move to the Team plan, nothing changes."),
    ("supposes", "Team", "Our plan may have changed to Team."),
    ("supposes", "Team", "Our plan must already have moved to Team."),
    ("supposes", "Team", "Notre formule a dû passer à Team."),
    ("supposes", "300", "Sollten wir 300 Benutzer haben, melde ich mich."),
    ("supposes", "300", "S'il y avait 300 utilisateurs, ce serait cher."),
    ("supposes", "300", "Si llegamos a 300 usuarios, avisaremos."),
    ("supposes", "300", "Se arrivassimo a 300 utenti, pagheremmo di più."),
    ("supposes", "300", "Se chegarmos a 300 utilizadores, avisamos."),
    ("supposes", "300", "Als we 300 gebruikers krijgen, hoort u het."),
    ("supposes", "300", "Jeśli będziemy mieć 300 użytkowników, damy znać."),
    ("wishes", "Team", "We are thinking about the Team plan."),
    ("wishes", "Team", "We want to switch to Team."),
    ("wishes", "Team", "Wir überlegen, auf Team zu wechseln."),
    ("wishes", "Team", "Nous envisageons le forfait Team."),
    ("wishes", "Team", "Queremos pasar al plan Team."),
    ("wishes", "Team", "We overwegen Team."),
    ("another's", "555-0101", "Use 555-0202 for me and 555-0101 for Dan in the warehouse."),
    ("another's", "Cork", "- Leeds: our office\n- Cork: our supplier"),
    ("denies", "12", "Me equivoqué, tenemos 18 usuarios y no 12."),
    ("was so", "P-7781", "My policy number is P-9034 and the old one, P-7781, is void."),
    ("gives up", "Park Street", "Since Park Street closed, my branch is Mill Lane."),
    ("gives up", "treasurer", "I handed in the keys as treasurer on Sunday."),
    ("hearsay", "50", "You wrote 50 seats on the quote."),
    ("hearsay", "50", "Sie schreiben 50 Plätze auf das Angebot."),
    ("denies", "Team", "It is not true that we are on the Team plan."),
    ("denies", "Team", "Nous ne sommes plus sur Team."),
    ("denies", "Team", "No usamos el plan Team."),
    ("denies", "Team", "Nie korzystamy z planu Team."),
    ("was so", "Team", "Previously we had the Team plan."),
    ("was so", "555-0101", "My old number was 555-0101."),
    ("gives up", "Berlin", "We have moved from Berlin to Hamburg."),
    ("gives up", "Berlin", "Wir sind von Berlin nach Hamburg umgezogen."),
    ("gives up", "Team", "Please use Starter instead of Team."),
    ("hearsay", "Team", "My boss thinks we are on the Team plan."),
    ("hearsay", "Team", "Apparently we are on the Team plan."),
    ("hearsay", "Team", "Angeblich haben wir den Tarif Team."),
    ("another's", "555-0101", "Her number is 555-0101."),
    ("another's", "555-0101", "My manager can be reached at 555-0101."),
    ("another's", "555-0101", "Bob's phone number is 555-0101."),
    ("another's", "555-0101", "Mijn collega heeft nummer 555-0101."),
    ("another's", "555-0101", "While I am away, please ring Dana on 555-0101."),
    ("another's", "555-0101", "Bitte rufen Sie Frau Kern unter 555-0101 an."),
    ("another's", "555-0101", "I tried your hotline 555-0101 twice."),
    ("another's", "555-0101", "I got a call from 555-0101 yesterday."),
    ("another's", "Paris", "My sister lives in Paris."),
    ("another's", "Paris", "Un ami de Lyon habite à Paris."),
    ("another's", "Team", "Our sister company is on the Team plan."),
    ("another's", "Team", "I nostri clienti usano il piano Team."),
    ("hearsay", "Team", "Your invoice says that we are on the Team plan."),
    ("hearsay", "Team", "Auf Ihrer Rechnung steht der Tarif Team."),
    ("hearsay", "Team", "En su factura aparece el plan Team."),
    ("hearsay", "55", "You charged us for 55 seats."),
    ("hearsay", "Team", "Your colleague recommended us the Team plan."),
    ("gives up", "40", "Your invoice says 40 seats, but we have 52."),
    ("gives up", "Team", "We left the Team plan last month."),
    ("gives up", "Team", "Abbiamo lasciato il piano Team."),
    ("gives up", "555-0101", "The line 555-0101 has been disconnected."),
    ("gives up", "Acme", "Acme is called Borealis now."),
    ("denies", "Team", "We are on the Team plan, which is wrong."),
    ("denies", "Team", "Es heißt, wir hätten Team. Das stimmt nicht."),
    ("supposes", "Team", "I doubt that we are on the Team plan."),
    ("wishes", "Team", "Please send me a quote for the Team plan."),
    ("for a while", "Vienna", "I am writing from a hotel in Vienna."),
    ("for a while", "Bordeaux", "La semaine prochaine je serai à Bordeaux."),
    ("for a while", "3 Lake View", "For this order only, please ship to 3 Lake View."),
    ("hearsay", "Enterprise", 'It says "Plan: Enterprise" in the header.'),
    ("supposes", "60", "Il nous faudrait 60 licences."),
    ("supposes", "20000", "With 20000 euros we could do it."),
    ("asks", "Munich", "Can you check this?\n\n- our office is in Munich\n- invoices are monthly"),
    ("denies", "上海", "我已经不住在上海了。"),
    ("asks", "Pro", "What is this form?\n\nName: ________\nNew plan: Basic / Pro / Max"),
    ("gives up", "nuts", "Please forget what I said about an allergy to nuts."),
    ("gives up", "nuts", "Vergessen Sie bitte meine Angabe zur Allergie gegen nuts."),
    ("another's", "555-0101", "Żona ma numer 555-0101."),
    ("another's", "20 mg", "My mother, who has the same thing, takes 20 mg."),
    ("another's", "20 mg", "Meine Mutter, die dasselbe hat, nimmt 20 mg."),
    ("another's", "7 June", "Friends of ours arrive on 7 June."),
    ("met", "Elm Road 16", "The parcel ended up at Elm Road 16."),
    ("met", "Am Anger 8", "Das Paket liegt seit Tagen bei Am Anger 8."),
    ("hearsay", "3", "The booking shows 3 guests for some reason."),
    ("hearsay", "40 mg", "I read somewhere that most people get 40 mg."),
    ("asks", "2026-04-01", "Lässt sich unsere Frist auf den 1. April 2026 verschieben?"),
]


def mood(value: str, text: str) -> Mood | None:
    return mood_of(value, Span(0, len(text), text), text, About(of_a_person=value.startswith("555")))


@pytest.mark.parametrize(("value", "text"), ASSERTED)
def test_what_a_customer_says_of_themselves_is_asserted(value: str, text: str) -> None:
    """A statement stays one beside a question, a condition, a denial or a colleague that is of something else."""
    assert mood(value, text) is None


@pytest.mark.parametrize(("said", "value", "text"), NOT_ASSERTED)
def test_what_is_not_asserted_is_known_by_its_words(said: Mood, value: str, text: str) -> None:
    """A question, a thought, a wish, a denial, former times, hearsay and another's value are no statement."""
    assert mood(value, text) == said


@pytest.mark.parametrize(
    "run",
    [
        "call Dana ",
        "our customers ",
        "your invoice says ",
        "from a to ",
        "wir sind ",
        "@ ",
        "Aa ",
        "we left the ",
        "1.1.2027 ",
    ],
)
def test_a_sentence_of_one_repeated_phrase_stopped_the_judgement(run: str) -> None:
    """A mail of 20 kB is judged in a second of CPU, whatever it repeats."""
    text = f"{run * (20_000 // len(run))} Team"
    with at_most(1.0, f"a run of {run!r}"):
        mood("Team", text)


@pytest.mark.parametrize(
    ("sentence", "theirs"),
    [
        ("The parcel was last seen in Rome.", False),
        ("Das Paket liegt noch in Dresden.", False),
        ("Our office is in Rome.", True),
        ("The office is in Rome.", True),
        ("Please use Rome for the forms.", True),
        ("Rome.", True),
        ("Kontoret ligger numera i Malmö centrum idag.", True),
        ("Het pakket staat bij de buurman in Rome.", False),
    ],
)
def test_a_parcels_city_took_the_place_of_the_offices(sentence: str, theirs: bool) -> None:
    """A value of something that no word says is the author's is to be confirmed; so is none of an unknown language."""
    assert speaks_of_the_author(sentence, "city", of_a_person=False) == theirs


def test_a_child_opens_what_is_told_of_a_class() -> None:
    """In Japanese, where nobody says whose child it is; that others are children says nothing of the author's."""
    assert speaks_of_the_author("息子は3年2組です。", "クラス", of_a_person=False)
    assert not speaks_of_the_author("隣の子は3年2組です。", "クラス", of_a_person=False)
    assert not speaks_of_the_author("In der 3a sind nur 18 Kinder.", "class", of_a_person=False)


@pytest.mark.parametrize(
    ("value", "text", "theirs"),
    [
        ("555-0202", "Our fax is 555-0202.", False),
        ("555-0202", "Faks: 555-0202", False),
        ("555-0202", "Rechnungen bitte weiterhin an 555-0202.", False),
        ("555-0202", "Our number is 555-0202, we send no fax.", True),
        ("555-0202", "Send invoices to me, my number is 555-0202.", True),
    ],
)
def test_a_fax_took_the_place_of_a_telephone(value: str, text: str, theirs: bool) -> None:
    """What reaches somebody in another way, or for one purpose, is no number of theirs."""
    said = mood_of(value, Span(0, len(text), text), text, About(("phone",), of_a_person=True))
    assert said == (None if theirs else "another's")


def test_my_in_french_was_but_in_italian() -> None:
    """A clause ends before a word for "but" only in a language that has it."""
    ((_, french),) = clauses_saying("Nice", "Pour ma part je vis à Nice.", "", "")
    ((_, italian),) = clauses_saying("Torino", "Il nostro ufficio non è a Milano ma a Torino.", "", "")
    assert (french.words, italian.words) == ("pour ma part je vis a @.", "ma a @.")


def test_a_bare_yes_confirmed_nothing() -> None:
    """ "Correct." below our question says its value; a sentence of more words speaks for itself."""
    asked = ("Thanks for your mail. So you have 45 licences, is that right?",)
    assert confirms("45", "Correct.", asked)
    assert confirms("45", "Ja, das stimmt.", asked)
    assert not confirms("45", "Correct, we have 40.", asked)
    assert not confirms("40", "Correct.", asked)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("adviser", "Ms Kent", "My adviser at the bank is Ms Kent."),
        ("doctor", "Dr Blum", "We see Dr Blum."),
        ("room", "210", "We are staying in room 210."),
    ],
)
def test_what_says_the_key_told_of_others_or_of_a_visit(key: str, value: str, text: str) -> None:
    """Where somebody is found makes them nobody else's; who sees a doctor has one, and who stays in a room does."""
    assert mood_of(value, Span(0, len(text), text), text, About((key,))) is None


def test_the_authors_own_bank_account_was_another_partys() -> None:
    """A word that names the key names nobody: "my bank account" is no bank's, "our supplier" is one of any key."""
    text = "My bank account is DE11 2000."
    assert mood_of("DE11 2000", Span(0, len(text), text), text, About(("iban",))) is None
