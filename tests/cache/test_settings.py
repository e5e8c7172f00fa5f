"""The settings of the cache in the environment."""

import subprocess
import sys
from pathlib import Path

import pytest
from bodies import kernel

import goptx
from goptx.cache import settings, store
from goptx.errors import InputError

PAIR = kernel("ret;"), kernel("ret;", "other")


def test_the_folder_is_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOPTX_CACHE_DIR", "here")
    assert settings.folder() == tmp_path / "here"


def test_without_a_name_it_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GOPTX_CACHE_DIR")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: tmp_path / "goptx")
    assert settings.folder() == tmp_path / "goptx"
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: Path("~/.cache/goptx"))
    assert settings.folder() is None  # the user has no home


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="where Linux has caches")
def test_on_linux_caches_have_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GOPTX_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert settings.folder() == tmp_path / "goptx"


def test_with_an_empty_name_results_are_cached_in_memory_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPTX_CACHE_DIR", "")
    assert store.disk() is None and store.switched_on()
    goptx.fuse(*PAIR, strategy="auto")
    assert store.MEMORY.held > 0


def test_size_is_in_mib(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.limit() == 512 << 20
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "3")
    assert settings.limit() == 3 << 20
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "")
    assert settings.limit() == 512 << 20


def test_with_no_size_nothing_is_cached(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "0")
    goptx.weave(*PAIR).cubin()
    assert not folder.exists() and store.MEMORY.held == 0


@pytest.mark.parametrize("size", ["many", "-1", "1.5", "\u0663"])
def test_invalid_sizes(monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    monkeypatch.setenv("GOPTX_CACHE_SIZE", size)
    with pytest.raises(InputError, match=rf"GOPTX_CACHE_SIZE={size} is not a number of MiB; give .*=512, or 0\."):
        goptx.fuse(*PAIR, strategy="auto")


def test_importing_goptx_imports_nothing_of_it() -> None:
    """Nor does an invalid size matter before anything is cached."""
    program = "import sys, goptx; print(sorted(m for m in sys.modules if m.startswith('goptx')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['goptx', 'goptx.errors']"
