"""A process that answers: whatever becomes of it, the next question is answered by another."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from device.bench import serving

from goptx.device.child_process import Child, Lost, without_main


@pytest.fixture
def child() -> Iterator[Child]:
    made = Child(serving.parrot, "hello")
    yield made
    made.end()


def process(answer: str) -> str:
    return answer.rpartition(" ")[2]


@pytest.mark.slow
def test_one_process_answers_until_it_is_ended(child: Child) -> None:
    assert not child.running
    first, second = (child.ask(word, 60) for word in ("you", "there"))
    assert first.startswith("hello you, from ") and second.startswith("hello there, from ")
    assert process(first) == process(second) and child.running
    child.end()
    child.end()
    assert not child.running
    assert process(child.ask("again", 60)) != process(first)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "limit", "message"),
    [
        (serving.HANGING, 0.5, r"no answer within 0\.5 s: it hangs"),
        (serving.ENDING, 60, "the process ended without an answer"),
    ],
)
def test_one_that_is_lost_is_replaced(child: Child, word: str, limit: float, message: str) -> None:
    before = process(child.ask("you", 60))
    begin = time.monotonic()
    with pytest.raises(Lost, match=message):
        child.ask(word, limit)
    assert time.monotonic() - begin < 20  # it was killed, not waited for
    assert not child.running
    assert process(child.ask("you", 60)) != before


@pytest.mark.slow
def test_one_that_ended_between_questions() -> None:
    child = Child(serving.deaf)
    child.begin()
    assert child._running
    child._running[0].join(60)
    with pytest.raises(Lost, match="the process ended"):
        child.ask("you", 60)
    assert not child.running


@pytest.mark.slow
def test_one_that_cannot_even_begin(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Lost, match="the process ended without an answer"):
        Child(serving.unborn).ask("you", 60)


def test_threads_take_the_script_away_one_after_the_other() -> None:
    main, barrier = sys.modules["__main__"], Barrier(4)

    def away(_: int) -> bool:
        barrier.wait()
        for _ in range(20):
            with without_main():
                own = sys.modules["__main__"]
                time.sleep(0.0005)  # the others' turn
                if own is main or sys.modules["__main__"] is not own:
                    return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(away, range(4)))
    assert sys.modules["__main__"] is main
    with pytest.raises(ValueError), without_main():
        raise ValueError
    assert sys.modules["__main__"] is main
