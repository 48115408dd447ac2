"""The parts of robots' and people's sentences, one small table a language (ISO 639-1), `kind: phrase` a line."""
