"""500 pairs of random kernels, woven against separate on the strict emulator; seeds are fixed.

A pair that fails is shrunken, and its text is in the failure: keep it as a file of kept/ once the fault is mended.
"""

from collections import Counter
from functools import cache

import pytest
from random_kernels.census import CONSTRUCTS
from random_kernels.pairs import FORCED
from random_kernels.search import Search, search

BATCHES, EACH = 10, 50
LEAST = 2  # of the 500 pairs have each construct
MOST_REFUSED = 0.05  # of them


@cache
def batch(number: int) -> Search:
    return search(1000 + number, EACH)


@pytest.mark.parametrize("number", range(BATCHES))
def test_pairs(number: int) -> None:
    found = batch(number)
    assert found.failing is None, found.failing.file(found.failure)
    assert found.pairs >= EACH


def test_that_few_are_declined() -> None:
    """Apart from those for which divergence was to be dealt with in a certain way, which may be none."""
    refused = sum((batch(number).refused for number in range(BATCHES)), start=Counter[str]())
    assert refused.total() - refused[FORCED] <= MOST_REFUSED * BATCHES * EACH, refused


def test_that_every_construct_occurs() -> None:
    seen = sum((batch(number).census for number in range(BATCHES)), start=Counter[str]())
    assert set(seen) <= set(CONSTRUCTS)
    assert not {name: seen[name] for name in CONSTRUCTS if seen[name] < LEAST}
