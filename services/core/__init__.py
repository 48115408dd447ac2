"""What the processors share: bus, db, model, memory, mail. Imports no processor."""
