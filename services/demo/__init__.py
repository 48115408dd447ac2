"""The demo: an invented company, its customers and their mail, run through the real processors."""
