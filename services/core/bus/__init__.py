"""The log: envelopes, the publisher, consumers with their lanes, the journal, retries and dead letters.

Invariant: only `ensure_topics` makes a topic. aiokafka's clients would have a broker make what they ask about, with
the broker's own number of partitions: then keys lie elsewhere, and a broker that trusts its clients (Tansu) keeps
records in partitions that no consumer has heard of.
"""

from functools import partial

import aiokafka.client
from aiokafka.protocol.metadata import MetadataRequest

aiokafka.client.MetadataRequest = partial(MetadataRequest, allow_auto_topic_creation=False)
