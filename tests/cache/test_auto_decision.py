"""The decision of `auto` is cached: the same kernels are not searched again, others are."""

import pickle
from pathlib import Path
from typing import Any

import pytest
from bodies import GUARD, kernel

import goptx
from goptx import Shape, Woven
from goptx.cache import keys, store
from goptx.strategies.choose_strategy import Search

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
HARRIS, LUD = (EXAMPLES / f"{name}.sm_90.ptx" for name in ("harris", "lud"))
ONE = kernel(GUARD.format(body="st.shared.u32 [tile], %r1; bar.sync 0; ld.shared.u32 %r3, [tile];"))
OTHER = kernel("LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP; ret;", "other")
SHAPES = [Shape(1024, 256)] * 2


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each search."""
    runs: list[int] = []
    real = Search.best

    def best(search: Search) -> Woven:
        runs.append(1)
        return real(search)

    monkeypatch.setattr(Search, "best", best)
    return runs


def auto(*sources: Any, **options: Any) -> Woven:
    return goptx.fuse(*sources, strategy="auto", **{"shapes": SHAPES, **options})


@pytest.mark.slow
@pytest.mark.parametrize("pair", [(HARRIS, LUD), (ONE, OTHER), (HARRIS, HARRIS)])
def test_the_second_result_is_the_first_without_a_search(pair: tuple[Any, Any], searches: list[int]) -> None:
    first = auto(*pair)
    for from_disk in (False, True):
        if from_disk:
            store.MEMORY.clear()
        again = auto(*pair)
        assert again == first and again.ptx == first.ptx
        assert (str(again.report), again.report.to_dict()) == (str(first.report), first.report.to_dict())
        assert again.max_registers == first.max_registers
    assert searches == [1]


def test_a_cap_belongs_to_the_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = Search._chosen

    def capped(search: Search, way: Any, found: Any) -> Woven:
        return chosen(search, way, {**found, way: found[way]}).capped(40)

    monkeypatch.setattr(Search, "_chosen", capped)
    assert auto(ONE, OTHER).max_registers == 40


@pytest.mark.parametrize(
    "changed",
    [
        {"shapes": [Shape(2048, 256)] * 2}, {"shapes": None}, {"arch": "sm_100"}, {"name": "another"},
        {"policy": "paper"}, {"slicing": 64}, {"divergence": "park"}, {"max_growth": 1.5}, {"presume": False},
        {"latency": "sm_90"},
    ],
)  # fmt: skip
def test_options_count(changed: dict[str, Any], searches: list[int]) -> None:
    auto(ONE, OTHER)
    auto(ONE, OTHER, **changed)
    assert searches == [1, 1]


@pytest.mark.slow
def test_kernels_count(searches: list[int], tmp_path: Path) -> None:
    copy = tmp_path / "copy.ptx"
    copy.write_text(ONE)
    auto(ONE, OTHER)
    auto(OTHER, ONE)
    auto(copy, OTHER)  # whose name stands in notes
    copy.write_text("\n" + ONE)
    auto(copy, OTHER)  # whose lines stand in notes
    auto(goptx.coarsen(ONE, 2), OTHER)
    assert len(searches) == 5


def test_changed_code_searches_anew(searches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    auto(ONE, OTHER)
    monkeypatch.setattr(keys, "code", lambda: "another release")
    auto(ONE, OTHER)
    assert searches == [1, 1]
    monkeypatch.setattr(keys, "code", lambda: "")  # which cannot be read
    auto(ONE, OTHER)
    auto(ONE, OTHER)
    assert searches == [1, 1, 1, 1]


def test_no_size_no_cache(searches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPTX_CACHE_SIZE", "0")
    auto(ONE, OTHER)
    auto(ONE, OTHER)
    assert searches == [1, 1]


def test_unreadable_decisions_are_searched_anew(searches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    auto(ONE, OTHER)
    monkeypatch.setattr(store, "find", lambda key, read: None)
    auto(ONE, OTHER)
    assert searches == [1, 1]


def test_a_pickle_holds_the_assembled_code() -> None:
    woven = goptx.weave(ONE, OTHER)
    again = pickle.loads(pickle.dumps(woven))
    assert again == woven and again.ptx == woven.ptx and again.chosen == woven.chosen
