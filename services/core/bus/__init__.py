"""The log: envelopes, publisher, consumers with lanes, the journal (processed-events table), retries, dead letters."""
