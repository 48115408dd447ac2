"""Who is one person: participants that are merged, unmerged, or split in two."""
