"""The language model: one port, its providers (Anthropic, offline, recorded), and what guards them."""
