"""Drafts that wait for a person, and the person's word on them; send_email decides whether it still holds.

listing.py    which drafts wait, with what an approval is bound to
decisions.py  approve or reject, as an event
"""
