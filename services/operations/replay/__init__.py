"""Replay: real handlers on what happened, in a sandbox, compared with what they did then.

Nothing leaves the sandbox: a scratch schema, a cache prefix of its own, a publisher that keeps what it is given, no
SMTP; and each event that is fed in carries a replay mark, which send_email refuses.
"""
