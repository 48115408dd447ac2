"""How long a request waits for the decision of the processor that it asks; then it says that nothing is decided yet."""

WAIT_S = 5.0
