"""Threads for people: which there are, all that is known of one, what is due, and what one may ask of them.

listing.py       threads and deadlines as the tables have them
inbox.py         threads by who has to act next, by words, by person
mails.py         the mails of a thread, with what is attached, and the whole of one
course.py        what happened because of each mail, with its times
changes.py       which threads and people changed since an event, and who is writing in a thread right now
explanations.py  why a reply says what it says, from the log and its archived days
requests.py      a step, a priority, tags, a note: events to the thread's topic; track_threads decides
answers.py       a person's own reply and what it may hold, taking it back, and who has a thread
suggestions.py   what the agent would answer, for a person who asks
"""
