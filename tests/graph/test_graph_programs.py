"""The benchmark of programs as CUDA graphs: its gains and bars, the turns of its rounds, and the tiles of products."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import graph_programs
import product_tiles
from captured.product_tiles import Tile, tile_of
from graph_programs import COMPILED, HELD, gains, in_turn, table

EXPERTS = "layer with two experts and a shared one, 32 tokens"


def row(program: str, **more: float) -> dict[str, Any]:
    us = {"as captured": 120.0, "branches": 110.0, HELD: 100.0, "by the cost model": 96.0, "optimized": 100.0}
    us |= {how.replace("_", " "): time for how, time in more.items()}
    return {"program": program, "us": us, "nodes": 3, "with_ptx": 3, "equal": True}


def test_gains_are_over_the_captured_graph_the_fastest_of_its_own_and_the_best_of_all() -> None:
    one = row(EXPERTS)
    assert gains(one) == {
        "as captured": (1.2, 1.08),
        "the fastest of its own": (1.0, 0.99),
        "the best unfused": (None, 1.02),
    }
    one["us"] |= {COMPILED + "combo kernels": 90.0, COMPILED + "default": 130.0}
    assert gains(one)["the best unfused"] == (0.9, 1.02)
    one["us"][COMPILED + "combo kernels"] = 105.0
    assert gains(one)["the best unfused"] == (1.0, 1.02)


@pytest.mark.parametrize(
    ("program", "bars"),
    [
        ("tower of 26 embedding bags, 512 samples", (2.0, 1.1, None)),
        ("layer, 32 tokens", (1.06, 0.99, None)),
        ("layer, 128 tokens", (0.99, 0.99, None)),
        (EXPERTS, (1.08, 0.99, 1.02)),
        ("products of a backward pass and Adam", (1.06, 0.99, 1.03)),
        ("image pipeline (CuPy)", (1.05, 0.99, 1.0)),
        ("simulation with independent steps (Numba)", (1.05, 0.99, 1.0)),
    ],
)
def test_bars(program: str, bars: tuple[float | None, ...]) -> None:
    assert program in (*graph_programs.TORCH, *graph_programs.ARRAYS)
    assert tuple(bar for _, bar in gains(row(program)).values()) == bars


def test_bars_that_are_not_reached_are_listed() -> None:
    good = row("image pipeline (CuPy)", optimized=90.0)
    bad = row("layer, 128 tokens", optimized=102.0)
    failed = {"program": "simulation with independent steps (Numba)", "error": "no Numba"}
    text = table({"command": "", "programs": [good, bad, failed]})
    assert "* layer, 128 tokens, over the fastest of its own: 0.980 for 0.99" in text
    assert text.count(" for 0.99") == 1 and "* image" not in text
    assert "Two instances" not in text
    bad["us"][graph_programs.TWICE] = 98.0
    again = table({"command": "", "programs": [good, bad]})
    assert "Two instances of the same graph with branches differ by at most 2.0%." in again
    head, line, *rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({one.count("|") for one in (head, line, *rows)}) == 1


def test_each_round_begins_with_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_programs, "ROUNDS", 2)
    monkeypatch.setattr(graph_programs, "WARMUPS", 1)
    ran: list[str] = []

    def timed(go: Any) -> float:
        ran.append(go)
        return float(len(ran))

    runs: Any = {name: name for name in "abc"}
    assert in_turn(runs, timed) == {"a": 7.0, "b": 6.5, "c": 6.0}
    assert "".join(ran) == "abcbcacab"


def test_tiles_of_products() -> None:
    assert tile_of(512) == Tile(128, 128, 64, 4, 3)
    assert [tile_of(rows).rows for rows in (1, 16, 32, 128)] == [16, 16, 32, 64]
    for rows in product_tiles.ROWS:
        chosen, *others = product_tiles.tiles(rows)
        assert chosen == tile_of(rows) and chosen not in others and others
        assert all(2 * t.stages * t.depth * (t.rows + t.columns) <= 227 << 10 for t in (chosen, *others))
