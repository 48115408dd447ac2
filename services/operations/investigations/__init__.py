"""Investigations as people see them: what is asked, where each stands, and what becomes of its proposals.

listing.py   investigations, and one whole; where two of them wrote the same lines otherwise
course.py    how one went: rounds, files, cost
requests.py  asking for one, stopping it, accepting and rejecting what it proposes
"""
