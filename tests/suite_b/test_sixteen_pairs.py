"""Suite B without a GPU: its ways are made and assembled, and its runner judges and times them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tuning.fake_bench import FakeBench, Pretending

import goptx
from goptx.device.assemble import find_ptxas
from goptx.measuring.bench.questions import Failed, Judged

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_b import (
    FOLDER,
    HFUSE,
    KERNELS,
    LAYERS,
    PAIRS,
    SIZES,
    launches_of,
    measured_of,
    specifications_of,
    tolerance_of,
)
from suite_b import __main__ as command
from suite_b.alone import alone
from suite_b.best import store, tuned, tuned_pairs
from suite_b.charts import chart, ratio_chart
from suite_b.ratios import RATIOS, ratio_rows, ratio_table, ratio_ways, shares_of, sized
from suite_b.runs import Places, blocks_of, rows
from suite_b.table import FAVOURABLE, line, table
from suite_b.ways import PARTITIONS, PEERS, Way, bound_of, even, fused, made, searched, ways_of
from unseen.making import Made

assembles = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
ROOT = Path(__file__).parents[2]
needs_hashes = pytest.mark.skipif(not (FOLDER / "ethash.toml").exists(), reason="needs the kernels of hashes")
PAIR, OTHER = "hist+maxpool", "batchnorm+im2col"
GPU = {"gpu": "Imaginary", "date": "today", "driver": "1", "commit": "abc", "command": "python -m benchmarks.suite_b"}
HALVES = Way("horizontal", (512, 512))


class AtOnce:
    """Makes in this process what a test asks for; other ways are refused."""

    def __init__(self, *wanted: Way) -> None:
        self.wanted = wanted

    def submit(self, function: Any, pair: str, way: Way, *more: Any) -> Future[Made]:
        future: Future[Made] = Future()
        if way in self.wanted:
            future.set_result(function(pair, way, *more))
        else:
            future.set_result(Made(str(way), facts={"refused": "not asked for"}))
        return future


def places(bench: Any, *wanted: Way) -> Places:
    return Places(bench, AtOnce(*wanted), Pretending())  # type: ignore[arg-type]


# what is measured ---------------------------------------------------------------------------------------


def test_sixteen_pairs_of_nine_kernels() -> None:
    assert len(PAIRS) == 16 and {kernel for pair in PAIRS for kernel in pair.split("+")} == set(KERNELS)
    layers = [pair for pair in PAIRS if set(pair.split("+")) <= set(LAYERS)]
    assert len(layers) == 10 and set(FAVOURABLE) < set(HFUSE) and set(KERNELS) - set(SIZES) == {"ethash"}
    assert [pair for pair in PAIRS if tolerance_of(pair)] == [pair for pair in PAIRS if "batchnorm" in pair]


@pytest.mark.parametrize("kernel", LAYERS)
def test_each_layer_is_described_in_two_sizes(kernel: str) -> None:
    (launch,) = launches_of(kernel)
    small = launch.small()
    assert launch.tunable and small.grid[0] <= 4
    elements = [[a.length for a in one.arguments if a.is_array] for one in (launch, small)]
    assert sum(elements[0]) > 1 << 26 and sum(elements[1]) < 10_000
    assert any(argument.name == SIZES[kernel] for argument in launch.arguments)
    assert all(path.is_file() for path in specifications_of(kernel))


def test_the_search_is_that_of_hfuse() -> None:
    assert PARTITIONS == ((128, 896), (256, 768), (384, 640), (512, 512), (640, 384), (768, 256), (896, 128))
    assert [(w.partition, w.bounded) for w in searched(PAIR)] == [(p, b) for p in PARTITIONS for b in (False, True)]
    assert even(PAIR) == HALVES and HALVES in searched(PAIR)
    names = [str(way) for way in ways_of(PAIR)]
    assert len(set(names)) == len(names) == len(PEERS) + 1 + 2 * 7 + 2
    assert {"auto", "horizontal 512+512 folded", "horizontal 128+896 bounded", "horizontal 512+512 x2"} < set(names)


@needs_hashes
def test_hashes_have_equal_halves() -> None:
    """They are not tunable."""
    halves = Way("horizontal", (256, 256))
    assert searched("ethash+sha256") == [halves, replace(halves, bounded=True)]
    names = [str(way) for way in ways_of("ethash+sha256")[len(PEERS) :]]
    assert names == [f"{halves}{more}" for more in (" folded", "", " bounded", " capped at 80", " capped at 128")]


@pytest.mark.slow
@assembles
def test_a_bound_that_changes_nothing_is_not_measured() -> None:
    """Two CTAs of 1,024 threads fit on an SM, with 32 registers for a thread."""
    assert bound_of(PAIR, HALVES, fused(PAIR, HALVES)) == 32 and bound_of(PAIR, PEERS[0], fused(PAIR, PEERS[0])) is None
    bounded = made(PAIR, replace(HALVES, bounded=True))
    assert bounded.woven is None and bounded.facts["bound"] == 32 >= bounded.facts["free"]


@pytest.mark.slow
@assembles
def test_the_bound_of_coarsened_kernels_spills() -> None:
    """Both have more than 32 registers."""
    wide = Way("horizontal", (512, 512), factor=2)
    free, bounded = (made("batchnorm+upsample", way) for way in (wide, replace(wide, bounded=True)))
    assert free.facts["bound"] == bounded.facts["bound"] == bounded.facts["registers"] == 32 < free.facts["registers"]
    assert bounded.facts["spill_bytes"] > free.facts["spill_bytes"]
    assert bounded.facts["occupancy"] > free.facts["occupancy"]


@pytest.mark.slow
@pytest.mark.parametrize("pair", [PAIR, OTHER])
@pytest.mark.parametrize("way", [*PEERS, Way("horizontal", (256, 768)), Way("horizontal", (512, 512), folded=True)])
@assembles
def test_each_way_is_made(pair: str, way: Way) -> None:
    found = made(pair, way)
    assert found.woven is not None and found.facts["registers"] <= 64, found.facts
    assert found.facts["shape"] == str(found.woven.shape)
    blocks = blocks_of(pair, found)
    assert not any("/" in fact for fact in found.facts.values() if isinstance(fact, str))  # paths of this machine
    assert blocks == (((32, 8) if pair == OTHER and way.partition == (256, 768) else blocks[0]), blocks[1])


@assembles
def test_statistics_are_judged_in_the_blocks_of_the_way() -> None:
    """Counts do not depend on the block, sums do."""
    uneven = Way("horizontal", (256, 768))
    assert blocks_of(OTHER, made(OTHER, uneven)) == ((32, 8), (768,))
    assert blocks_of(OTHER, made(OTHER, Way("vertical"))) == ((32, 16), (512,))
    assert blocks_of(PAIR, made(PAIR, uneven)) == ((512,), (512,))


# the runner ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@assembles
def test_rows_and_their_table() -> None:
    uneven = Way("horizontal", (256, 768))
    bench = FakeBench({"vertical": 2.0, str(HALVES): 0.5, str(uneven): 0.8}, judged={"weave": Failed("it hangs")})
    (row,) = rows([PAIR], places(bench, PEERS[0], PEERS[1], HALVES, uneven), 0)
    assert (row["pair"], row["hfuse"], row["baseline_ms"], row["tuned_ms"]) == (PAIR, 1.571, 1.0, None)
    assert (row["search"], row["search_ms"], row["baseline"]) == (str(HALVES), 0.5, "graph")
    assert row["speedups"] == {"vertical": 0.5, str(uneven): 1.25, str(HALVES): 2.0}
    assert not row["right"] and row["ways"]["weave"]["failed"] == "it hangs"
    assert "weave" not in row["ms"] and "not asked for" in row["ways"]["interleave"]["refused"]
    text = table({**GPU, "pairs": [row], "alone": {"hist": {"problem": "", "shape": "1024:512", "registers": 14}}})
    (one,) = [found for found in text.splitlines() if found.startswith(f"| {PAIR} | NO |")]
    assert "| graph | 1.000 | 1.57 | 2.00 | 512+512 | 2.00 | - | 0.50 | - | - | - | - |" in one
    assert "* hist: right, 1024:512, 14 registers" in text and "| hist+maxpool | weave | - | - |" in text
    assert [group.values for group in chart({**GPU, "pairs": [row]}).groups] == [(1.571, 2.0, None)]
    assert line(row).startswith("hist+maxpool: tuned -, search 2.00 (horizontal 512+512), HFUSE 1.57; NOT RIGHT")


@pytest.mark.slow
@assembles
def test_what_is_wrong_in_its_own_blocks_is_not_timed() -> None:
    uneven = Way("horizontal", (256, 768))
    bench = FakeBench(judged={str(uneven): Judged(wrong="B:1 differs")})
    (row,) = rows([OTHER], places(bench, HALVES, uneven), 0)
    assert row["ways"][str(uneven)]["wrong"] == "B:1 differs" and not row["right"]
    assert [*row["speedups"]] == [str(HALVES)]
    opened = [entry for entry in bench.journal if entry[0] == "judge"]
    assert opened.count(("judge", str(uneven))) == 1 and opened.count(("judge", str(HALVES))) == 2


def test_a_pair_that_cannot_be_run_has_a_problem() -> None:
    class Lost(FakeBench):
        def open(self, workload: Any) -> Any:
            raise goptx.DeviceError("no device")

    (row,) = rows([PAIR], places(Lost()), 0)
    assert not row["right"] and row["problem"] == "no device"
    assert "| hist+maxpool | NO |  | no device |" in table({**GPU, "pairs": [row], "alone": {}})
    assert line(row) == "hist+maxpool: NOT RIGHT no device"


@pytest.mark.slow
def test_what_a_kernel_alone_lacks_is_a_problem() -> None:
    """Its process goes on with the next kernel."""
    found = alone(("gelu", "lud"))
    assert [facts["problem"].partition(":")[0] for facts in found.values()] == ["InputError", "InputError"]


@pytest.mark.slow
@needs_hashes
def test_hashes_are_tuned_without_other_blocks() -> None:
    (row,) = rows(["ethash+sha256"], places(FakeBench(otherwise=lambda _: 0.9)), 0.01)
    assert row["tuned_ms"] is not None and row["ways"]["tuned"]["tried"] > 0, row


def test_tuning_is_a_way(tmp_path: Path) -> None:
    (row,) = rows([PAIR], places(FakeBench(otherwise=lambda _: 0.9)), 0.01)
    assert row["tuned_ms"] is not None and row["ways"]["tuned"]["tried"] > 0
    file = tmp_path / "best.json"
    store([{**row, "pair": "another"}], file)
    store([row, {"pair": "not tuned", "ways": {}}], file)
    held = json.loads(file.read_text())
    assert [*held] == ["another", PAIR]
    held = held[PAIR]
    assert held["kernels"][0]["file"] == "kernels/hist.sm_90.ptx"


def test_stored_results_of_tuning_are_made_again() -> None:
    assert "batchnorm+hist" in tuned_pairs()
    assert tuned("batchnorm+hist").made().plan is not None
    with pytest.raises(goptx.InputError, match=r"best\.json has nothing of hist; make it with --best\."):
        tuned("hist")


def test_a_run_goes_on_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def pretending(pairs: list[str], *_: Any) -> Iterator[dict[str, Any]]:
        for pair in pairs:
            measured.append(pair)
            yield {"pair": pair, "right": True} | ({"problem": "it hangs"} if pair == "hist+im2col" else {})

    monkeypatch.setattr(command, "rows", pretending)
    options = command._options(["--pairs", "hist+maxpool,hist+im2col", "--runs", str(tmp_path)])
    assert [row["pair"] for row in command._resumed(options, "abc", places(None))] == options.pairs
    assert [row["pair"] for row in command._resumed(options, "abc", places(None))] == options.pairs
    assert measured == ["hist+maxpool", "hist+im2col", "hist+im2col"]  # a pair that failed is measured again
    assert len([*command._resumed(options, "another", places(None))]) == 2 and len(measured) == 5
    options.anew = True
    assert len([*command._resumed(options, "abc", places(None))]) == 2 and len(measured) == 7


# ratios -------------------------------------------------------------------------------------------------


def test_one_kernel_does_a_part_of_its_work() -> None:
    assert [shares_of(ratio) for ratio in RATIOS] == [(1, 0.25), (1, 0.5), (1, 1), (0.5, 1), (0.25, 1)]
    assert sized(PAIR) and not sized("ethash+sha256")
    found = measured_of(OTHER, shares=(0.25, 1.0)).workload.arguments
    whole = measured_of(OTHER).workload.arguments
    assert int(found[0][4]) == int(whole[0][4].value) // 4 and found[1][:2] == whole[1][:2]  # type: ignore[attr-defined, call-overload]


@assembles
def test_rows_of_ratios_and_their_table() -> None:
    bench = FakeBench({str(HALVES): 0.8})
    found = [*ratio_rows([PAIR], [0.5, 2.0], places(bench, HALVES))]
    assert [row["ratio"] for row in found] == [0.5, 2.0] and all(row["right"] for row in found)
    assert {str(way) for way in ratio_ways(PAIR)} > {"vertical", "weave", "interleave", str(HALVES)}
    assert [group.values for group in ratio_chart({**GPU, "rows": found}).groups] == [(1.25, None, None)] * 2
    lines = ratio_table({**GPU, "rows": found}).splitlines()
    assert lines.count("| hist+maxpool | 1.200 | 1.200 | 1.00 | graph | 512+512 | 1.25 | 1.25 | - | - | - |") == 2


# the command --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_suite_says_what_it_needs() -> None:
    run = [sys.executable, "-m", "benchmarks.suite_b", "--help"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "python -m benchmarks.suite_b" in done.stdout


def test_a_pair_that_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command._options(["--pairs", "hist+gelu"])
    assert "--pairs hist+gelu: no such pairs; choose from batchnorm+hist," in capsys.readouterr().err
