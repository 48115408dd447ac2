"""What must be true of a deployment at rest, whatever was done to it: judged from plain records by this package alone.

Written apart from the code that it judges: it imports nothing of `services`, has its own SQL, its own fold of the
events and its own table of legal steps. `collect` takes the evidence, `judge` is pure and gives every broken promise
in words; no words are a pass. Each rule is a function of the evidence in a module of its concern:

    mails    each mail is read once and ends in exactly one way
    replies  at most one reply a turn at the SMTP server, to the right person, and what the ledger says of it
    threads  legal steps, turns that do not overlap, mails in order
    tables   the tables are what the events say
    rest     nothing is in flight, offsets are complete, dead letters are only what was poisoned or released
    approvals, outreach, incidents: what is counted is counted once, and what follows from it is what the rule says
    investigations: each ends once, with a note, and no round is asked twice
    bounces  what came back is noted once, and nobody is written to again whom it names
    erased   who was erased has left no trace; what nobody can read any more is judged by its place alone
    outages  the model's fails no turn, a refused topic those alone that needed it, what is newer is held in sight
"""
