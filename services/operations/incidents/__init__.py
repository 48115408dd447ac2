"""Incidents as people see them, and closing and reopening one.

listing.py   incidents, and one with who reported it and what became of the answer to each
requests.py  close or reopen one, as an event; watch_incidents decides
"""
