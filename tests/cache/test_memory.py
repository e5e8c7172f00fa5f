"""The cache in memory."""

from concurrent.futures import ThreadPoolExecutor

from goptx.cache.in_memory import Memory


def test_entries_used_longest_ago_are_removed_first() -> None:
    memory = Memory(30)
    for key in "abc":
        memory.keep(key, b"x" * 10)
    assert memory.find("a") == b"x" * 10
    memory.keep("d", b"x" * 10)
    assert [key for key in "abcd" if memory.find(key)] == ["a", "c", "d"]
    assert memory.held == 30


def test_a_key_has_its_last_contents() -> None:
    memory = Memory(30)
    memory.keep("a", b"first")
    memory.keep("a", b"second")
    assert (memory.find("a"), memory.held) == (b"second", 6)


def test_contents_larger_than_the_limit_are_not_cached() -> None:
    memory = Memory(30)
    memory.keep("a", b"x" * 31)
    assert (memory.find("a"), memory.held) == (None, 0)


def test_threads() -> None:
    memory = Memory(500)

    def work(number: int) -> None:
        for i in range(2000):
            key = str((number * 7 + i) % 90)
            assert memory.find(key) in (None, key.encode() * 10)
            memory.keep(key, key.encode() * 10)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    remaining = [memory.find(str(key)) for key in range(90)]
    assert memory.held == sum(map(len, filter(None, remaining))) <= 500
