"""The log: envelopes, the publisher, consumers with their lanes, the journal, retries and dead letters."""
