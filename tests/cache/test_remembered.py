"""What was woven is given again, and is what it was."""

import copy
import json
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bodies import kernel
from kept_results import DIVERGENT, HARRIS, LINED, LUD, ONE, OTHER, REDUCE, SHAPES, SORT, same
from strategies.dependent_kernels import elementwise

import goptx
from goptx import Shape, Woven
from goptx.cache import store
from goptx.results.plain_data import from_plain
from goptx.results.report import Report

HANDED_ON: dict[str, Any] = {"private": [("A:2", "B:0")], "same": [("A:3", "B:3")]}


# What is given again ------------------------------------------------------------------------------------

WAYS: dict[str, Callable[[], Woven]] = {
    "weave": lambda: goptx.weave(HARRIS, LUD),
    "weave three": lambda: goptx.weave(HARRIS, LUD, LUD),
    "weave in shapes": lambda: goptx.weave(HARRIS, LUD, shapes=[Shape(None, 64), Shape((3, 5), (16, 16), None)]),
    "weave, paper": lambda: goptx.weave(ONE, OTHER, policy="paper", slicing=20, divergence="predicate", name="both"),
    "fuse": lambda: goptx.fuse(HARRIS, LUD),
    "vertical": lambda: goptx.fuse(ONE, OTHER, strategy="vertical"),
    "dependent": lambda: goptx.fuse(elementwise(), elementwise("mul.f32"), strategy="vertical", **HANDED_ON),
    "horizontal": lambda: goptx.fuse(HARRIS, LUD, strategy="horizontal", shapes=[Shape(8, 64), Shape(4, 96)]),
    "interleave": lambda: goptx.fuse(ONE, OTHER, strategy="interleave", shapes=SHAPES, ratio=[1, 3]),
    "separate": lambda: goptx.fuse(HARRIS, LUD, strategy="separate"),
    "separate, coarsened": lambda: goptx.fuse(goptx.coarsen(HARRIS, 3), ONE, strategy="separate"),
    "auto": lambda: goptx.fuse(HARRIS, LUD, strategy="auto"),
    "auto that declines": lambda: goptx.fuse(DIVERGENT, OTHER, strategy="auto"),
    "coarsen": lambda: goptx.coarsen(HARRIS, 3),
    "coarsen in a shape": lambda: goptx.coarsen(LUD, shape=Shape(8, 64), policy="concat"),
    "batch": lambda: goptx.batch(kernel("ld.param.u32 %r1, [k_n]; ret;"), "A:2", step=2),
    "lines": lambda: goptx.weave(LINED, ONE, entries=["partner", None]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("forgotten", [False, True], ids=["memory", "disk"])
def test_what_was_made_is_given_again(way: str, forgotten: bool, linked: list[int]) -> None:
    first = WAYS[way]()
    made = len(linked)
    if forgotten:
        store.MEMORY.clear()
    second = WAYS[way]()
    assert len(linked) == made
    assert "module" not in vars(second)  # not even parsed
    assert first.entries == second.entries and same(first, second)


def test_a_process_finds_what_another_made(folder: Path) -> None:
    first = [goptx.weave(HARRIS, LUD), goptx.fuse(ONE, OTHER, strategy="vertical"), goptx.coarsen(HARRIS, 3)]
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, str(HARRIS), str(LUD), ONE, OTHER], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == [woven.ptx for woven in first]
    assert len(list(folder.iterdir())) == 3


ELSEWHERE = """
import json, sys
from pathlib import Path
import goptx

harris, lud = map(Path, sys.argv[1:3])
woven = goptx.weave(harris, lud), goptx.fuse(*sys.argv[3:], strategy="vertical"), goptx.coarsen(harris, 3)
print(json.dumps([w.ptx for w in woven]))
assert woven[0].params and woven[0].origins and str(woven[0].report)
passes = {"networkx", "numpy", "goptx.weaving.pipeline", "goptx.ptx.parse", "goptx.analysis.cfg"}
assert not passes & sys.modules.keys(), passes & sys.modules.keys()
"""


def test_weave_and_fuse_by_weaving_are_one(linked: list[int]) -> None:
    one, other = goptx.weave(HARRIS, LUD), goptx.fuse(HARRIS, LUD, strategy="weave")
    assert goptx.can_weave(HARRIS, LUD) and len(linked) == 1
    assert same(one, other)


def test_defaults_may_be_spelled_out(linked: list[int]) -> None:
    goptx.weave(HARRIS, LUD)
    goptx.weave(HARRIS, LUD, slicing="adaptive", entries=None, placement="spread")
    goptx.coarsen(HARRIS, 2, "x")
    goptx.coarsen(HARRIS, axis="x", factor=2)
    assert len(linked) == 2


# What is kept is nobody's to change, and may be anything ---------------------------------------------------------


def test_changing_a_result_changes_no_other() -> None:
    for woven in (goptx.weave(HARRIS, LUD), goptx.weave(HARRIS, LUD)):
        assert isinstance(woven.report.kernels, dict) and isinstance(woven.symbols, dict)
        assert list(woven.report.kernels) == ["A", "B"] and woven.symbols.keys() == {"A", "B"}
        woven.report.kernels.clear()
        woven.symbols.clear()
        object.__setattr__(woven, "params", ())


CONTENTS = [b"", b"{", b"[]", b"{}", b"null", b'"ptx"', b"\xff\xfe", b'{"ptx": "", "said": [], "origins": []}']


@pytest.mark.parametrize("content", [*CONTENTS, *"fields report params class kind said origins".split()])
def test_contents_that_make_no_sense_are_made_anew(content: bytes | str, folder: Path, linked: list[int]) -> None:
    first = goptx.weave(HARRIS, LUD)
    (file,) = folder.iterdir()
    if isinstance(content, str):
        spoilt = json.loads(store.disk().find(file.name) or b"")  # type: ignore[union-attr]
        match content:
            case "fields":
                del spoilt["fields"]["params"]
            case "report":
                del spoilt["fields"]["report"]["="]
            case "params":
                spoilt["fields"]["params"][0]["unknown"] = 1
            case "class":
                spoilt["fields"]["report"] = {"=": "subprocess:Popen", "args": "true"}
            case "kind":
                spoilt["kind"] = "goptx.launch.shape:Shape"
            case "said":
                spoilt["said"] = [["GoptxError", "x"]]
            case "origins":
                spoilt["origins"] = [["Z", 1]]
        content = json.dumps(spoilt).encode()
    store.MEMORY.clear()
    store.disk().keep(file.name, content)  # type: ignore[union-attr]
    second = goptx.weave(HARRIS, LUD)
    assert len(linked) == 2
    store.MEMORY.clear()
    third = goptx.weave(HARRIS, LUD)
    assert len(linked) == 2  # what made no sense was replaced
    assert same(first, second) and same(second, third)


@pytest.mark.parametrize(
    "name", ["subprocess:Popen", "goptx.memo:Kept", "goptx.cli:main", "goptx.errors:InputError", "x"]
)
def test_only_dataclasses_of_goptx_are_made_of_data(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} is no dataclass of goptx"):
        from_plain([{"=": name}])


def test_without_a_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, linked: list[int]) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GOPTX_CACHE_DIR", str(tmp_path / "file" / "kept"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = goptx.weave(HARRIS, LUD), goptx.weave(HARRIS, LUD)
    assert len(linked) == 1  # in memory
    assert same(first, second)


# Results of results ------------------------------------------------------------------------------------------------


def test_woven_kernels_are_woven_again(linked: list[int]) -> None:
    def again() -> Woven:
        return goptx.weave(goptx.weave(HARRIS, LUD), SORT)

    first = again()
    assert len(linked) == 2
    store.MEMORY.clear()
    second = again()
    assert len(linked) == 2  # without a look at what the inner one is made of
    assert same(first, second)
    assert {o.source for o in second.origins if o} == {str(HARRIS), str(LUD), str(SORT)}
    inner = goptx.weave(HARRIS, LUD)
    assert same(goptx.weave(inner, REDUCE), goptx.weave(HARRIS, LUD, REDUCE))  # whose kernels are read only now


def test_batches_are_woven_and_coarsened(linked: list[int]) -> None:
    text = kernel("ld.param.u32 %r1, [k_n]; ret;")

    def all_of_it() -> tuple[Woven, Woven]:
        made = goptx.batch(text, "A:2")
        return goptx.weave(made, OTHER), goptx.coarsen(made, 2)

    first = all_of_it()
    made = len(linked)
    second = all_of_it()
    assert len(linked) == made
    assert all(map(same, first, second))
    goptx.batch(text, "A:2")
    assert same(goptx.weave(goptx.batch(text, "A:2"), ONE), goptx.weave(goptx.batch(text, "A:2"), ONE))


def test_what_was_replaced_is_no_longer_the_same() -> None:
    from dataclasses import replace

    one, other = goptx.weave(HARRIS, LUD), goptx.weave(HARRIS, SORT)
    assert one.identity and other.identity
    mixed = replace(one, chosen=other.chosen)
    assert mixed.identity is None
    assert goptx.weave(mixed, REDUCE).ptx == goptx.weave(HARRIS, SORT, REDUCE).ptx


def test_modules_are_sources_too(tmp_path: Path, linked: list[int]) -> None:
    for _ in range(2):
        goptx.weave(goptx.read(HARRIS), goptx.read(LUD))
    assert len(linked) == 1
    moved = goptx.weave(goptx.parse(HARRIS.read_text(), "elsewhere"), goptx.read(LUD))
    assert len(linked) == 1 and {o.source for o in moved.origins if o} == {"elsewhere", str(LUD)}
    lower = goptx.weave(goptx.parse("\n" + HARRIS.read_text(), str(HARRIS)), goptx.read(LUD))
    assert len(linked) == 2  # its lines are others
    lines = [sorted({o.line for o in w.origins if o and o.kernel == "A" and o.line}) for w in (moved, lower)]
    assert lines[1] == [line + 1 for line in lines[0]]


def test_results_travel_before_and_after_they_are_looked_at() -> None:
    goptx.weave(HARRIS, LUD)
    for look in (False, True):
        woven = goptx.weave(HARRIS, LUD)
        if look:
            assert woven.module and woven.chosen
        there = pickle.loads(pickle.dumps(woven))
        assert ("module" in vars(there)) == look
        assert there.identity == woven.identity and same(there, woven)
        assert same(copy.copy(woven), copy.deepcopy(woven))
    fused = [goptx.fuse(ONE, OTHER, strategy="vertical") for _ in range(2)]
    assert same(*(pickle.loads(pickle.dumps(woven)) for woven in fused))


def test_a_woven_has_no_other_attributes() -> None:
    goptx.weave(HARRIS, LUD)
    for woven in (goptx.weave(HARRIS, LUD), goptx.weave(ONE, OTHER)):
        assert not hasattr(woven, "modul")
        with pytest.raises(AttributeError, match="a Woven has no attribute `modul`"):
            woven.modul  # type: ignore[attr-defined]  # noqa: B018


# Threads and processes -----------------------------------------------------------------------------------------------


def test_threads() -> None:
    expected = goptx.weave(HARRIS, LUD), goptx.weave(ONE, OTHER)
    store.MEMORY.clear()
    together, failed = threading.Barrier(8), []

    def work() -> None:
        together.wait()
        for _ in range(5):
            try:
                assert same(goptx.weave(HARRIS, LUD), expected[0]) and same(goptx.weave(ONE, OTHER), expected[1])
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_processes_that_begin_together(folder: Path) -> None:
    command = [sys.executable, "-c", TOGETHER, *map(str, (HARRIS, LUD, SORT))]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    outputs = [child.communicate(timeout=300)[0] for child in children]
    assert [child.returncode for child in children] == [0] * 4 and len(set(outputs)) == 1
    assert all("." not in file.name for file in folder.iterdir())


TOGETHER = """
import hashlib, itertools, sys
from pathlib import Path
import goptx

for pair in itertools.combinations(map(Path, sys.argv[1:]), 2):
    print(hashlib.sha256(goptx.weave(*pair).ptx.encode()).hexdigest())
"""


def test_reports_have_all_that_is_kept() -> None:
    """A field of another kind than plain data would never be found again, and nobody would notice."""
    first, second = goptx.weave(HARRIS, LUD), goptx.weave(HARRIS, LUD)
    assert type(second.report) is Report and second.report == first.report and "module" not in vars(second)
