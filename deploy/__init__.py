"""How Correspondent is put into service: containers, charts, and the embedded stack."""
