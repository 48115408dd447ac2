"""What the key of mailboxes asks of rows and memories of before it."""
