"""Facts of a participant: what models propose and people ask, what becomes of it, and what follows."""
