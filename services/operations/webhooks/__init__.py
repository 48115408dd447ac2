"""Endpoints of other programs: what operators register, and how telling them goes.

endpoints.py  registered, changed, paused, removed; secrets made, and made again
listing.py    endpoints and their latest webhooks, as people see them
requests.py   what is asked of send_webhooks: a test, one again, what waits

Invariants
- A secret is shown once, to whoever made it; it is stored sealed, and nothing reads it back but what signs.
- For a day after it was made again, the former secret signs, too.
"""
