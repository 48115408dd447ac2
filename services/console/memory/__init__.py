"""A participant's memory for people: finding the person, reading what is known with its provenance, asking for changes.

people.py    who is meant by an address or an id
reading.py   current facts, as-of facts, history with sources and decisions
finding.py   facts by meaning
merging.py   who is the same person as whom
asking.py    a wish, as an event to the participant's topic; learn_facts decides
"""
