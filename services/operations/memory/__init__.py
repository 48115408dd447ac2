"""A participant's memory for people: finding the person, reading what is known with its provenance, asking for changes.

people.py    who is meant by an address or an id, and who is the same person as whom
facts.py     current facts, as-of facts, history with sources and decisions
past.py      what was so at a time, as it was known at another
search.py    facts by meaning
relationship.py  lifecycle, mood, risk and issues, and moving them
profile.py   the profile, and changes to it
outcomes.py  what became of a request; learn_facts decides
"""
