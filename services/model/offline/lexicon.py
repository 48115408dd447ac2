"""Word lists, as words and as the stems they are compared by."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as running text."""
    return frozenset(text.split())


STOP = word_set(
    """a an the is and or but if then so as at by for from in into of off on out over to up with without about after
    again all also am any are be been being before both can cannot could did do does done each else even ever few
    had has have having he her here hers him his how i it its just let like may me might mine more most much my
    no nor not now only other our ours own please really same shall she should since some still such than thank
    thanks that their them these they this those through too under until us very was we well were what when where
    which while who whom why will would yes yet you your yours hi hello dear regards best kind im i'm we're i've
    we've there's it's that's don't doesn't didn't isn't aren't can't couldn't won't tell know question questions
    want need get got give gives given make made go going one ones next later soon moment currently possible
    possibly exactly maybe anyone someone something anything kindly whether there they're you're sure
    support supports supported offer offers happen happens happened use uses using used right able work works"""
)
GOOD = word_set("thanks thank great perfect excellent wonderful happy glad love awesome solved appreciate helpful good")
BAD = word_set(
    """bad terrible awful worst broken useless unacceptable ridiculous annoying annoyed frustrated frustrating angry
    furious disappointed disappointing upset poor fails failed error wrong problem waste hate"""
)
# What a report of a trouble is full of without naming the trouble.
POINTING = """fail fails failed error errors crash crashes bug problem issue trouble broken stuck stop stopped stops
    run runs start starts work working works open opening opens show shows use using always never often since
    yesterday today morning week update updated monday tuesday wednesday thursday friday saturday sunday time help
    look fix known whenever happen happens keep keeps see nobody here another try tried really very product thing
    something user account deadline second third fourth fifth mail email write same again look looking into case"""
NOT_A_NAME = word_set(
    """The This That Our Your We It There Here Please Thanks Hello Hi Monday Tuesday Wednesday Thursday Friday
    Saturday Sunday January February March April May June July August September October November December Also And
    But So If When Support Sales Billing Team Now Not Sorry Sure OK API SSO CSV PDF"""
)
NOT_PERSONAL = word_set(
    "info support sales billing accounts admin office team service mail contact noreply you me us customer user"
)
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
