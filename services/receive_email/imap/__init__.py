"""Inboxes read over IMAP (RFC 9051, RFC 3501), by UID, read-only."""

from services.receive_email.imap.watch import watch_inbox, watch_sent

__all__ = ["watch_inbox", "watch_sent"]
