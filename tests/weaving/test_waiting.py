"""Kernels that wait in other ways than at barriers of the whole CTA: woven right or refused, as the document says."""

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from weaving.waiting_kernels import KERNELS, NOT_EMULATED, REFUSED, text

import goptx
from goptx.emulator.instructions.lanewise import Array
from goptx.errors import CannotWeave
from goptx.options import CHOICES, Choice

Table = Callable[[str, Sequence[Sequence[str]]], str]
MODULE = goptx.read(text())
PARTNERS = ("tiled", "shuffles", "grid_stride", "producers_and_consumers", "mbarrier_pipeline", "lane_by_lane")
COLUMNS = ("shuffles", "tiled", "producers_and_consumers")  # of the document's table
CTAS, BLOCK = 2, 128
DATA = np.random.default_rng(1).integers(0, 1024, 200).astype(np.int32)

# Why a kernel is refused, by the word that the table has for it.
REASONS = {
    "ids": r"takes its barrier id from a register, so it may be any of the 16",
    "cluster": r"depends on the cluster, whose shape is not known",
    "registers": r"kernels that share a CTA share its pool of registers",
    "tensor memory": r"tensor memory is allocated for the whole CTA",
    "work": r"a CTA that has not begun belongs to the other kernel too",
    "breakpoint": r"a breakpoint stops both kernels",
    "CTAs": r"the loop may wait for other CTAs",
    "votes": r"one by one, and amid such waits others of them end the kernel, which takes votes",
}


def outcome(first: str, second: str) -> goptx.Woven | str:
    """The woven kernel, or a word of `REASONS`."""
    module = goptx.read(text(names=(first, second)))
    try:
        return goptx.weave(module, module, entries=[first, second])
    except CannotWeave as error:
        words = [word for word, message in REASONS.items() if re.search(message, str(error))]
        assert words, str(error)
        assert re.match(r"<ptx>:\d+: kernel [AB] \(`\w+`\): .*`.*use (separate launches|a constant id)", str(error))
        return words[0]


@cache
def alone(name: str, seed: int = 0) -> list[int]:
    out = np.full(CTAS * BLOCK, -1, np.int32)
    goptx.emulate(MODULE, CTAS, BLOCK, [DATA, out, len(DATA)], entry=name, races=True, seed=seed)
    return [int(value) for value in out]


def together(woven: goptx.Woven, seed: int) -> tuple[list[int], list[int]]:
    outs: list[Array] = [np.full(CTAS * BLOCK, -1, np.int32) for _ in range(2)]
    goptx.emulate(woven, CTAS, BLOCK, [[DATA, out, len(DATA)] for out in outs], races=True, seed=seed)
    return outs[0].tolist(), outs[1].tolist()


@pytest.mark.parametrize("name", KERNELS)
def test_each_kernel_is_right_by_itself(name: str) -> None:
    assert alone(name) == alone(name, seed=1) == alone(name, seed=2)
    assert len(set(alone(name))) > 1


@pytest.mark.slow
@pytest.mark.parametrize("partner", PARTNERS)
@pytest.mark.parametrize("name", KERNELS)
def test_woven_is_right_or_refused(name: str, partner: str) -> None:
    for seed, (first, second) in enumerate([(name, partner), (partner, name)]):
        woven = outcome(first, second)
        if isinstance(woven, str):
            assert (name, woven) == ("register_ids", "ids")
        else:
            assert together(woven, seed) == (alone(first), alone(second))


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_woven_is_refused(name: str) -> None:
    assert outcome(name, "shuffles") == outcome(name, "tiled")
    assert isinstance(outcome(name, "tiled"), str)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*KERNELS, *NOT_EMULATED])
def test_the_assembler_takes_it(name: str, assembles: Callable[[goptx.Woven], None]) -> None:
    for first, second in ((name, "tiled"), ("grid_stride", name)):
        woven = outcome(first, second)
        assert isinstance(woven, goptx.Woven) or name == "register_ids"
        if isinstance(woven, goptx.Woven):
            assembles(woven)


@pytest.mark.slow
@pytest.mark.parametrize("divergence", CHOICES)
@pytest.mark.parametrize("name", KERNELS)
def test_each_choice_for_divergent_lanes_is_right_or_refused(name: str, divergence: Choice) -> None:
    module = goptx.read(text(names=(name, "shuffles")))
    try:
        woven = goptx.weave(module, module, entries=[name, "shuffles"], divergence=divergence)
    except CannotWeave as error:
        assert re.search(
            r"cannot run under predicates|a loop lies in|ended the kernel|have to arrive too|early returns", str(error)
        )
        return
    assert together(woven, 0) == (alone(name), alone("shuffles"))


# The table ----------------------------------------------------------------------------------------------


def cell(name: str, partner: str) -> str:
    woven = outcome(name, partner)
    return f"refused: {woven}" if isinstance(woven, str) else f"{woven.report.woven_fraction:.2f}"


@pytest.mark.slow
def test_the_documents_table_is_what_happens(table: Table) -> None:
    kernels = KERNELS | NOT_EMULATED | REFUSED
    documented = table("waiting.md", [(n, what, *(cell(n, p) for p in COLUMNS)) for n, (what, _) in kernels.items()])
    assert all(f"| {word} |" in documented for word in REASONS)
