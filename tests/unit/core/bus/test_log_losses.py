"""What tells that a topic lost its records, and what does not."""

from __future__ import annotations

import pytest
from aiokafka import TopicPartition
from aiokafka.consumer.subscription_state import SubscriptionState
from aiokafka.errors import IllegalStateError
from aiokafka.structs import OffsetAndMetadata

from services.core.bus.faust_consumer import in_generation, seek_everywhere
from services.core.bus.log_identity import LogIdentity
from services.core.bus.log_losses import KnownTopic, ends_gone_back, lost_topics, pairs_of

KNOWN = {"mails": KnownTopic("one", "id-1", (4, 0, 7)), "turns": KnownTopic("one", "id-2")}


def test_a_topic_with_another_id_lost_its_records_also_on_a_cluster_of_the_same_id() -> None:
    """A topic's id says whether it is the same log; the topic next to it lost nothing."""
    found = lost_topics(KNOWN, KNOWN, LogIdentity("one", {"mails": "id-9", "turns": "id-2"}), ())
    assert list(found) == ["mails"]


def test_a_topic_that_was_missing_lost_its_records_also_where_the_broker_tells_no_ids() -> None:
    """What had to be made again was empty; where there are no ids, another cluster is another log."""
    assert list(lost_topics(KNOWN, KNOWN, LogIdentity("one", {"mails": "", "turns": ""}), ["turns"])) == ["turns"]
    assert list(lost_topics(KNOWN, KNOWN, LogIdentity("two", {"mails": "", "turns": ""}), ())) == ["mails", "turns"]
    assert lost_topics(KNOWN, KNOWN, LogIdentity("", {"mails": "", "turns": ""}), ()) == {}


def test_a_cluster_that_was_given_another_id_keeps_its_topics() -> None:
    """The same topic ids are the same log, whatever the cluster is called."""
    assert lost_topics(KNOWN, KNOWN, LogIdentity("two", {"mails": "id-1", "turns": "id-2"}), ()) == {}


def test_an_end_that_went_back_in_one_partition_is_a_loss() -> None:
    """Ends grow or stay; more partitions than before are no loss."""
    assert ends_gone_back(KNOWN, {"mails": [4, 0, 7, 0], "turns": [0], "new": [0]}) == {}
    assert "partition 2" in ends_gone_back(KNOWN, {"mails": [9, 9, 6]})["mails"]


def test_lost_dead_letters_are_made_again_from_their_events() -> None:
    """A topic that was lost is every consumer's; a topic of dead letters is one consumer's."""
    consumers = [("mails", "read"), ("turns", "load"), ("turns", "reflect")]
    assert pairs_of(["p.turns"], consumers, "p.") == consumers[1:]
    assert pairs_of(["p.turns.p.load.dlq"], consumers, "p.") == [consumers[1]]


async def test_a_commit_of_a_lost_log_let_a_consumer_pass_what_lay_before_it() -> None:
    """A committed offset counts in the generation of the topic that it was reached in; else reading begins anew."""
    trusted, lost, never = TopicPartition("mails", 0), TopicPartition("turns", 0), TopicPartition("turns", 1)
    commits = in_generation({trusted: OffsetAndMetadata(7, ""), lost: OffsetAndMetadata(5, "")}, {"turns": 1})
    consumer = _Consumer(commits, {trusted, lost, never})
    assert await seek_everywhere(consumer, {"turns": 1}) == {trusted: 7, lost: 5, never: None}
    assert await seek_everywhere(consumer, {"turns": 2}) == {trusted: 7, lost: None, never: None}
    assert consumer.to_beginning == {lost, never}


async def test_a_consumer_crashed_where_another_joined_while_it_looked_where_to_begin() -> None:
    """aiokafka says in one way that the broker did not answer in time and that the partitions are handed over again."""
    consumer = _Consumer({}, {TopicPartition("turns", 0)}, answers=False)
    with pytest.raises(TimeoutError, match="did not say where"):
        await seek_everywhere(consumer, {})
    consumer.revoke()
    with pytest.raises(IllegalStateError, match="handed over again"):  # which Faust goes on from
        await seek_everywhere(consumer, {})


class _Consumer:
    """aiokafka's consumer, as far as seeking goes."""

    def __init__(
        self,
        commits: dict[TopicPartition, OffsetAndMetadata],
        assignment: set[TopicPartition],
        *,
        answers: bool = True,
    ) -> None:
        self._commits, self._assignment, self._answers = commits, assignment, answers
        self._subscription = SubscriptionState()
        self._subscription.subscribe({place.topic for place in assignment})
        self._subscription.assign_from_subscribed(assignment)
        self._coordinator = self
        self.to_beginning: set[TopicPartition] = set()

    def assignment(self) -> set[TopicPartition]:
        return self._assignment

    async def fetch_committed_offsets(self, _: object) -> dict[TopicPartition, OffsetAndMetadata]:
        return self._commits

    def seek(self, place: TopicPartition, offset: int) -> None:
        self.to_beginning.discard(place)

    async def seek_to_beginning(self, *places: TopicPartition) -> bool:
        self.to_beginning = set(places)
        return self._answers

    def revoke(self) -> None:
        """Another member joins, or one leaves."""
        self._subscription.subscription.assignment._unassign()
