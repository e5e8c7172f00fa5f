"""Files are written whole, through links, and into paths that are not regular files."""

import os
import threading
from pathlib import Path

import pytest

from goptx.errors import InputError
from goptx.files_written import write_whole


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    file, link = tmp_path / "there" / "file", tmp_path / "link"
    file.write_bytes(b"before")
    link.symlink_to(file)
    write_whole(link, b"after")
    assert link.is_symlink() and file.read_bytes() == b"after"
    assert [p.name for p in (tmp_path / "there").iterdir()] == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_given_the_bytes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, b"bytes")
    reader.join(20)
    assert read == [b"bytes"] and pipe.is_fifo()


def test_what_cannot_be_written_is_left(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none/file: cannot be written \(.*\); give a folder that exists"):
        write_whole(tmp_path / "none" / "file", b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"folder: cannot be written \(.*\); give the path of a file"):
        write_whole(tmp_path / "folder", b"")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]
