"""The tests, from pure functions (unit) to the whole flow; `tests/conftest.py` has the fixtures that they share."""
