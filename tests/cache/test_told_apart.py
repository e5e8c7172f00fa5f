"""Which calls are the same and which are not, what files and warnings have to do with it."""

import os
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bodies import kernel
from kept_results import DIVERGENT, HARRIS, LINED, LUD, ONE, OTHER, SHAPES, SORT, STRANGE, same

import goptx
from goptx import Shape, Woven
from goptx.cache import keys, store
from goptx.errors import CannotWeave, InputError, LatencyTableWarning, UnknownInstruction
from goptx.latency.table import load_table
from goptx.weaving.link import link as linking

TABLE = Path(__file__).parents[2] / "latency_tables" / "sm_90.toml"


# What is not the same ---------------------------------------------------------------------------------------

OPTIONS: list[dict[str, Any]] = [
    {}, {"entries": ["k", "other"]}, {"arch": "sm_90"}, {"name": "w"}, {"policy": "paper"}, {"policy": "concat"},
    {"slicing": None}, {"slicing": 20}, {"slicing": 21}, {"divergence": "predicate"}, {"latency": "sm_90"},
    {"shapes": SHAPES}, {"shapes": SHAPES[::-1]}, {"shapes": SHAPES, "placement": "front"}, {"max_blocks": 50},
    {"max_growth": 2}, {"max_growth": 2.0}, {"presume": False}, {"shapes": [SHAPES[0], Shape(9, 32, 16)]},
    {"shapes": [Shape(None, 64)] * 2},
]  # fmt: skip


def test_options_tell_calls_apart(linked: list[int]) -> None:
    for options in OPTIONS:
        goptx.weave(ONE, OTHER, **options)
    assert len(linked) == len(OPTIONS)
    for options in OPTIONS:
        goptx.weave(ONE, OTHER, **options)
    assert len(linked) == len(OPTIONS)


def test_kernels_tell_calls_apart(linked: list[int]) -> None:
    calls = [
        (ONE, OTHER),
        (OTHER, ONE),
        (ONE, ONE),
        (ONE, OTHER, OTHER),
        (ONE, OTHER + "\n"),
        (ONE + OTHER[:0] + " ", OTHER),
    ]
    for call in calls:
        goptx.weave(*call)
    assert len(linked) == len(calls)


def test_strategies_tell_calls_apart(linked: list[int]) -> None:
    for strategy in ("weave", "vertical", "horizontal", "interleave"):
        assert goptx.fuse(ONE, OTHER, strategy=strategy, shapes=SHAPES).strategy == strategy
    goptx.coarsen(ONE, 2)
    goptx.coarsen(ONE, 3)
    goptx.coarsen(ONE, 2, "y")
    goptx.fuse(ONE, OTHER, strategy="interleave", shapes=SHAPES, ratio=(1, 2))
    assert len(linked) == 8


def test_a_table_of_latencies_counts_by_its_contents(tmp_path: Path, linked: list[int]) -> None:
    own = tmp_path / "own.toml"
    shutil.copy(TABLE, own)
    tables: list[Any] = [own, str(own), shutil.copy(TABLE, tmp_path / "copy.toml"), load_table("sm_90", "sm_90")]
    for table in tables:
        goptx.weave(ONE, OTHER, latency=table)
    assert len(linked) == 1
    text = own.read_text()
    own.write_text(text.replace("cycles = 4,", "cycles = 5,", 1))
    assert own.read_text() != text
    goptx.weave(ONE, OTHER, latency=own)
    assert len(linked) == 2


def test_changed_code_makes_all_anew(monkeypatch: pytest.MonkeyPatch, linked: list[int]) -> None:
    goptx.weave(ONE, OTHER)
    monkeypatch.setattr(keys, "code", lambda: "changed")
    goptx.weave(ONE, OTHER)
    assert len(linked) == 2
    monkeypatch.setattr(keys, "code", lambda: "")  # no sources, as in an archive of compiled files
    for _ in range(2):
        goptx.weave(ONE, OTHER)
    assert len(linked) == 4


def test_what_cannot_be_told_apart_is_not_kept(linked: list[int]) -> None:
    class Text(str):
        """Whatever it may be."""

    for _ in range(2):
        goptx.weave(ONE, OTHER, name=Text("w"))
    assert len(linked) == 2


def test_specifications_beside_the_files_count_where_they_are_read(tmp_path: Path, linked: list[int]) -> None:
    """Horizontal takes from them whether a kernel may have another block than its own."""
    (tmp_path / "one.ptx").write_text(ONE)
    shapes = [Shape(4, 64), Shape(4, 64)]

    def fused() -> Shape | None:
        files = tmp_path / "one.ptx", tmp_path / "one.ptx"
        return goptx.fuse(*files, strategy="horizontal", shapes=shapes, partition=(96, 64)).shape

    with pytest.raises(InputError):
        fused()
    specification = '[[kernel]]\nfile = "one.ptx"\nentry = "k"\ngrid = [4]\nblock = [64]\ntunable = true\n'
    (tmp_path / "one.toml").write_text(specification)
    linked.clear()
    assert fused() == fused() == Shape(4, 160)
    assert len(linked) == 1
    (tmp_path / "one.toml").write_text(specification.replace("true", "false"))
    with pytest.raises(InputError):
        fused()


# Files -------------------------------------------------------------------------------------------------------


def test_a_file_that_changed_is_another(tmp_path: Path, linked: list[int]) -> None:
    file = tmp_path / "kernel.ptx"
    found = []
    for text in (ONE, OTHER, ONE):
        file.write_text(text)
        found.append(goptx.weave(file, SORT).ptx)
    assert found[0] == found[2] != found[1] and len(linked) == 2


def test_a_file_that_changes_meanwhile_is_woven_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kernel.ptx"
    file.write_text(ONE)
    real = linking.link

    def link(*args: Any, **kwargs: Any) -> Any:
        file.write_text(OTHER)
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr("goptx.weaving.pipeline.link", link)
        first = goptx.weave(file, SORT)
    file.write_text(ONE)
    second = goptx.weave(file, SORT)
    file.unlink()
    assert same(first, second)


def test_results_name_the_files_that_are_given(tmp_path: Path, linked: list[int]) -> None:
    first = goptx.weave(HARRIS, LUD)
    files = shutil.copy(HARRIS, tmp_path / "a.ptx"), shutil.copy(LUD, tmp_path / "b.ptx")
    second = goptx.weave(*files)
    assert len(linked) == 1
    assert {(o.kernel, o.source) for o in second.origins if o} == {("A", str(files[0])), ("B", str(files[1]))}
    assert (second.ptx, [o and (o.kernel, o.line) for o in second.origins]) == (
        first.ptx,
        [o and (o.kernel, o.line) for o in first.origins],
    )
    third = goptx.weave(HARRIS.read_text(), LUD.read_bytes())
    assert {o.source for o in third.origins if o} == {"<ptx>"}
    again = goptx.weave(HARRIS, LUD)
    assert again.origins == first.origins and len(linked) == 1
    assert [(k.path, k.module.source) for k in second.chosen] == [(file, str(file)) for file in files]
    assert [(k.path, k.module.source) for k in third.chosen] == [(None, "<ptx>")] * 2


@pytest.mark.parametrize("noted", ["note", "warning", "line"])
def test_where_a_name_stands_it_is_the_right_one(tmp_path: Path, noted: str, linked: list[int]) -> None:
    """In notes, in warnings and in `.file`: what was kept for other names is no answer."""
    text = {
        "note": kernel('.pragma "nounroll"; ret;').replace(".visible", '.pragma "used_bytes_mask 1";\n.visible'),
        "warning": STRANGE,
        "line": LINED.read_text(),
    }[noted]
    entries = ["partner", None] if noted == "line" else None
    seen = []
    for _ in range(2):
        for name in ("first.ptx", "second.ptx"):
            (tmp_path / name).write_text(text)
            (tmp_path / f"other_{name}").write_text(OTHER)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                woven = goptx.weave(tmp_path / name, tmp_path / f"other_{name}", entries=entries)
            said = "\n".join([woven.ptx, *woven.report.notes, *(str(w.message) for w in caught)])
            assert f"{name}" in said and {"first.ptx": "second.ptx", "second.ptx": "first.ptx"}[name] not in said
            seen.append(said)
    assert seen[:2] == seen[2:] and len(linked) == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names of files are text")
def test_names_that_are_no_text(tmp_path: Path, linked: list[int]) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.ptx"))
    file.write_text(ONE)
    for _ in range(2):
        assert {o.source for o in goptx.weave(file, OTHER).origins if o} == {str(file), "<ptx>"}
    assert len(linked) == 1


# Warnings and errors -------------------------------------------------------------------------------------------


def warned(make: Callable[[], Woven]) -> list[tuple[type[Warning], str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        woven = make()
        assert woven.module and woven.chosen is not None  # what is made later says nothing
    return [(w.category, str(w.message)) for w in caught]


def test_warnings_are_given_again() -> None:
    def weave() -> Woven:
        return goptx.weave(STRANGE, OTHER.replace("sm_80", "sm_86"))

    first = warned(weave)
    assert [category for category, _ in first] == [UnknownInstruction, LatencyTableWarning]
    assert warned(weave) == first
    store.MEMORY.clear()
    assert warned(weave) == first


def test_what_is_logged_is_logged_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    said = []
    for name in ("one.ptx", "one.ptx", "two.ptx", "two.ptx"):
        (tmp_path / name).write_text(DIVERGENT)
        caplog.clear()
        with caplog.at_level("INFO", logger="goptx"):
            goptx.fuse(tmp_path / name, OTHER, strategy="auto")
        said.append([(r.levelname, r.getMessage()) for r in caplog.records])
        assert [level for level, _ in said[-1]] == ["INFO", "INFO", "WARNING"]
        assert all(str(tmp_path / name) in text for _, text in said[-1])
    assert said[0] == said[1] and said[2] == said[3]


def test_warnings_may_be_errors() -> None:
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UnknownInstruction):
                goptx.weave(STRANGE, OTHER)
    with pytest.warns(UnknownInstruction):
        goptx.weave(STRANGE, OTHER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnknownInstruction):
            goptx.weave(STRANGE, OTHER)


NO_SOURCE: Any = 5
NO_OPTION: dict[str, Any] = {"polisy": ""}


def test_failures_are_not_kept(folder: Path, linked: list[int], tmp_path: Path) -> None:
    files = tmp_path / "a.ptx", tmp_path / "b.ptx"
    for file in files:
        file.write_text(DIVERGENT)
        with pytest.raises(CannotWeave, match=str(file)):
            goptx.weave(file, OTHER)
    assert len(linked) == 2 and not folder.exists()


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: goptx.weave(Path("missing.ptx"), ONE), InputError, "missing.ptx: cannot be read"),
        (lambda: goptx.weave(ONE), InputError, "weave.. takes two to 26 kernels, got 1"),
        (lambda: goptx.weave(ONE, OTHER, policy="best"), InputError, "policy `best` is unknown"),
        (lambda: goptx.weave(ONE, OTHER, latency="none.toml"), InputError, "none.toml: cannot be read"),
        (lambda: goptx.weave(Path("missing.ptx"), ONE, policy="best"), InputError, "policy `best` is unknown"),
        (lambda: goptx.weave(ONE, NO_SOURCE), InputError, "a builtins.int is no kernel"),
        (lambda: goptx.weave(ONE, OTHER, **NO_OPTION), TypeError, "got an unexpected keyword argument 'polisy'"),
        (lambda: goptx.fuse(ONE, OTHER, strategy="best"), InputError, "strategy `best` is unknown"),
        (lambda: goptx.fuse(ONE, OTHER, strategy="vertical", ratio=1), InputError, "vertical has no option `ratio`"),
        (lambda: goptx.weave(ONE, OTHER, slicing=True), InputError, "slicing `True` is unknown"),
    ],
)
def test_what_is_wrong_is_said_as_ever(call: Callable[[], Woven], error: type[Exception], said: str) -> None:
    goptx.weave(ONE, OTHER, slicing=1)
    for _ in range(2):
        with pytest.raises(error, match=said):
            call()
