"""What people make of drafts by inbox and intent, which intents need no person any more, and opening and closing one.

listing.py   the patterns, and how far each is from opening
requests.py  open or close an intent, as an event; earn_approval decides
"""
