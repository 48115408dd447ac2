"""Investigations as people see them: what is asked, where each stands, and what becomes of its proposals.

listing.py   investigations, and one whole
requests.py  asking for one, stopping it, accepting and rejecting what it proposes
"""
