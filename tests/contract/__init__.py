"""What everybody relies on: schemas, topics, tables, headers."""
