"""The cache in a folder."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from goptx.cache.disk import Disk

MIB = 1 << 20


def key(number: int) -> str:
    return sha256(str(number).encode()).hexdigest()


def held(disk: Disk) -> int:
    return sum(size for _, size, _ in disk.entries())


def test_cached_contents_are_found(folder: Path) -> None:
    disk = Disk(folder, MIB)
    assert disk.find(key(1)) is None
    for content in (b"some\nbytes\0", b"", b"others"):
        disk.keep(key(1), content)
        assert Disk(folder, MIB).find(key(1)) == content
    assert disk.find(key(2)) is None
    assert [name for _, _, name in disk.entries()] == [key(1)] == [p.name for p in folder.iterdir()]


@pytest.mark.skipif(sys.platform == "win32", reason="folders of Windows are private by themselves")
def test_no_other_user_may_read(folder: Path) -> None:
    before = os.umask(0)
    try:
        Disk(folder, MIB).keep(key(1), b"content")
    finally:
        os.umask(before)
    assert (folder.stat().st_mode & 0o777, (folder / key(1)).stat().st_mode & 0o777) == (0o700, 0o600)


# Invalid entries are missing, and replaced -----------------------------------------------------------------


def flipped(at: int) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[at] ^= 1
        path.write_bytes(content)

    return spoil


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def of_another_key(path: Path) -> None:
    Disk(path.parent, MIB).keep(key(2), b"of another key")
    (path.parent / key(2)).replace(path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("length", [0, 1, 6, 40, 70, 71, 72, 75])
def test_truncated_entries(folder: Path, length: int) -> None:
    spoilt(folder, lambda path: os.truncate(path, length))


@pytest.mark.parametrize("spoil", [flipped(0), flipped(20), flipped(70), flipped(-1), longer, of_another_key])
def test_changed_entries(folder: Path, spoil: Callable[[Path], None]) -> None:
    spoilt(folder, spoil)


def spoilt(folder: Path, spoil: Callable[[Path], None]) -> None:
    disk = Disk(folder, MIB)
    disk.keep(key(1), b"content")
    spoil(folder / key(1))
    assert disk.find(key(1)) is None
    disk.keep(key(1), b"content")
    assert disk.find(key(1)) == b"content"


def test_entries_that_are_not_files(folder: Path) -> None:
    disk = Disk(folder, MIB)
    disk.keep(key(1), b"content")
    a_folder(folder / key(1))
    assert disk.find(key(1)) is None
    with pytest.raises(OSError):
        disk.keep(key(1), b"content")
    assert [p.name for p in folder.iterdir()] == [key(1)]  # and nothing half written
    assert disk.entries() == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner here")
def test_entries_that_others_wrote_or_may_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(folder, MIB)
    disk.keep(key(1), b"content")
    for mode in (0o620, 0o602):
        (folder / key(1)).chmod(mode)
        assert disk.find(key(1)) is None
    (folder / key(1)).chmod(0o644)
    assert disk.find(key(1)) == b"content"
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert disk.find(key(1)) is None
    assert disk.trouble() == "files in it belong to others too"


# Where nothing can be written --------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    disk = Disk(tmp_path / "file" / "cached", MIB)
    assert (disk.find(key(1)), disk.entries()) == (None, [])
    with pytest.raises(OSError):
        disk.keep(key(1), b"content")
    assert disk.trouble() == "Not a directory"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for this user")
def test_a_folder_that_can_only_be_read(folder: Path) -> None:
    disk = Disk(folder, MIB)
    disk.keep(key(1), b"content")
    folder.chmod(0o500)
    try:
        assert disk.find(key(1)) == b"content"
        with pytest.raises(PermissionError):
            disk.keep(key(2), b"content")
        assert disk.trouble() == "Permission denied"
        disk.trim()
    finally:
        folder.chmod(0o700)
    assert disk.trouble() == ""


def test_a_disk_that_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(folder, MIB)

    def full(self: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError):
            disk.keep(key(1), b"content")
    assert list(folder.iterdir()) == []


def test_unfinished_entries_are_not_seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(folder, MIB)
    disk.keep(key(1), b"before")
    real = Path.write_bytes
    seen = []

    def write(self: Path, content: bytes) -> int:
        done = real(self, content[:10])  # half of it
        seen.append(disk.find(key(1)))
        return done

    monkeypatch.setattr(Path, "write_bytes", write)
    disk.keep(key(1), b"after")
    assert seen == [b"before"]


# Bounds ------------------------------------------------------------------------------------------------------


def aged(folder: Path, number: int, seconds: int) -> None:
    os.utime(folder / key(number), (time.time() - seconds,) * 2)


def test_entries_read_longest_ago_are_removed_first(folder: Path) -> None:
    disk = Disk(folder, 10_000)
    for number in range(9):
        disk.keep(key(number), b"x" * 1000)
        aged(folder, number, 1000 - number)
    assert disk.find(key(0)) and disk.find(key(3))
    disk.keep(key(9), b"x" * 1000)
    remaining = [number for number in range(10) if (folder / key(number)).exists()]
    assert remaining == [0, 3, 4, 5, 6, 7, 8, 9]  # an eighth of the bytes is free again
    assert held(disk) <= 10_000 * 7 // 8


@pytest.mark.slow
def test_the_size_stays_bounded_however_small_entries_are(folder: Path) -> None:
    disk = Disk(folder, 50_000)
    most = 0
    for number in range(600):
        disk.keep(key(number), b"x" * (number % 200))
        most = max(most, held(disk)) if number % 20 == 0 else most
    assert 40_000 < most < 53_000


def test_contents_larger_than_the_limit_are_not_cached(folder: Path) -> None:
    disk = Disk(folder, 1000)
    disk.keep(key(1), b"x" * 1000)
    assert disk.find(key(1)) is None and not folder.exists()
    Disk(folder, MIB).keep(key(1), b"x" * 1000)
    assert disk.find(key(1)) is None  # of a larger cache


def test_abandoned_entries_are_removed(folder: Path) -> None:
    disk = Disk(folder, MIB)
    disk.keep(key(1), b"content")
    for number, seconds in ((2, 10), (3, 7200)):
        (folder / f"{key(number)}.abc").write_bytes(b"half")
        os.utime(folder / f"{key(number)}.abc", (time.time() - seconds,) * 2)
    disk.trim()
    assert {p.name for p in folder.iterdir()} == {key(1), f"{key(2)}.abc"}


def test_clearing_leaves_other_files(folder: Path) -> None:
    disk = Disk(folder, MIB)
    assert disk.clear() == 0
    for number in range(3):
        disk.keep(key(number), b"content")
    (folder / f"{key(1)}.abc").write_bytes(b"half")
    os.utime(folder / f"{key(1)}.abc", (time.time() - 7200,) * 2)
    others = ["notes.txt", f"{key(2)}.abc", key(1)[:-1], key(1).upper(), key(1) + "0"]
    for name in others:
        (folder / name).write_text("mine")
    (folder / key(9)).mkdir()
    assert disk.clear() == 3
    assert sorted(p.name for p in folder.iterdir()) == sorted([*others, key(9)])
    disk.keep(key(1), b"content")
    assert disk.find(key(1)) == b"content"


# Processes ---------------------------------------------------------------------------------------------------

HAMMER = """
import random, sys
from hashlib import sha256
from pathlib import Path
from goptx.cache.disk import Disk

disk, seed, found = Disk(Path(sys.argv[1]), 60_000), int(sys.argv[2]), 0
order = random.Random(seed)
for _ in range(400):
    number = order.randrange(40)
    key, content = sha256(str(number).encode()).hexdigest(), bytes([number]) * (100 * number)
    there = disk.find(key)
    assert there in (None, content), (number, len(there))
    found += there is not None
    if order.random() < 0.5:
        disk.keep(key, content)
    if order.random() < 0.01:
        disk.clear()
print(found)
"""


@pytest.mark.slow
def test_many_processes_at_once(folder: Path) -> None:
    """Each reads, writes, and clears now and then; what any of them finds is whole, and none fails, though there is not
    room for half of it."""
    command = [sys.executable, "-c", HAMMER, str(folder)]
    children = [subprocess.Popen([*command, str(i)], stdout=subprocess.PIPE, text=True) for i in range(8)]
    outputs = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0] * 8
    assert sum(map(int, outputs)) > 0
    disk = Disk(folder, 60_000)
    disk.trim()
    assert held(disk) <= 60_000
    assert all("." not in p.name for p in folder.iterdir())
