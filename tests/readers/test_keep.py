"""Which sentences of a session are proposed: each states a decision, a cause or a rule, and
stands by itself.
"""

from datetime import datetime

import pytest

from synaptic.readers.keep import MOST, best, proposals
from synaptic.readers.session import Event

KEPT = {
    "asked": {
        "ok, commit that. and from now on use conventional commits, the release script "
        "parses them": "decision",
        "we decided to go with ULIDs instead of UUIDs for public ids because they sort by "
        "time": "decision",
        "always use the `Money` type for amounts, floats cost us a reconciliation last year": "decision",
        "the reason we use v1 of the API is that v2 has no bulk endpoint": "insight",
        "remember that the staging cluster has no GPU nodes, so the embedding job can't "
        "run there": "reference",
    },
    "said": {
        "**Root cause:** `PoolManager` hands out a connection before the TLS handshake "
        "finished.": "insight",
        "## Root cause\n\nThe retry middleware reads the body twice, and the stream is "
        "consumed by then.": "insight",
        "It turned out that Redis evicts the lock key under `allkeys-lru`, so two workers "
        "ran one job.": "insight",
        "Uploads above 8 MB failed because nginx in front of the app kept its default limit.": "insight",
        "I chose WAL mode over a lock file because readers must not block the importer.": "decision",
    },
}
LEFT = {
    "asked": [
        "should we always pin versions in requirements.txt?",
        "never mind, I'll do that myself with the other script",
        "let's go with option B because the reviewers liked it better",
        "I think we should probably use Redis instead of memcached for sessions",
        "for now always return an empty list from the search endpoint",
        "write a function that never returns null and always logs the error",
        "> from now on every invoice is sent by post\n\nwhat does that mean",
        '"never push to main on fridays" is what the old handbook said',
        "see ```from now on we always use tabs in Makefiles and shell scripts```",
    ],
    "said": [
        "This turned out to be a leaked connection in the pool of the orders service.",
        "The root cause was that it retried without any backoff at all, again and again.",
        "The cause is probably the retry logic in the payment client of the shop.",
        "I have not found the root cause of the hang in the importer of the shop.",
        "Next I want to confirm that the deadlock is caused by the index lock of the writer.",
        "If you want, we could always run the linter before each commit of the release branch.",
        "The problem was a typo in the name of the configuration file of the staging server.",
        "I'll note that from now on migrations need a lock timeout of five seconds.",
        "The fix was simple.",
    ],
}


def proposed(kind: str, *texts: str) -> list[dict[str, object]]:
    events = [
        Event(kind, n, datetime(2026, 11, 21, 9, n), text, "") for n, text in enumerate(texts)
    ]
    return [one for event in events for one in proposals(event.text, [event], str)]


@pytest.mark.parametrize(
    ("kind", "text", "type"), [(k, t, type) for k in KEPT for t, type in KEPT[k].items()]
)
def test_a_sentence_that_is_worth_keeping_is_proposed(kind: str, text: str, type: str) -> None:
    [one] = proposed(kind, text)
    assert one["type"] == type
    assert str(one["text"])[-30:] in text


@pytest.mark.parametrize(("kind", "text"), [(k, t) for k in LEFT for t in LEFT[k]])
def test_what_does_not_stand_by_itself_or_is_not_said_for_good_is_left(
    kind: str, text: str
) -> None:
    assert proposed(kind, text) == []


def test_few_are_proposed_and_none_twice() -> None:
    rules = [
        f"From now on the {name} service must never log the address of a customer"
        for name in "abcde"
    ]
    assert len(best(proposed("asked", *rules))) == 1
    assert len(best(proposed("asked", *KEPT["asked"]))) == MOST
