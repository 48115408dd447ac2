"""What the key of mailboxes asks of older rows and memories."""
