"""assist=True: teams whose kernel has no CTA left run what is left of the other kernel."""

from typing import Any

import pytest
from strategies.test_folded import COUNTING, fuse
from strategies.test_tickets import LONG_FIRST, counters, launches
from weaving.compared import LIMIT, coarse, lines, outputs, same, with_memory
from weaving.shaped_kernels import KERNELS

import goptx
from goptx import EmulationFault, InputError, Shape
from goptx.emulator.emulated_launch import Launch

__all__ = ["launches"]
ASSIST: dict[str, Any] = {"fold": "ticket", "assist": True}
MOVED: dict[str, Any] = {"arch": "sm_90a", "role_registers": (96, 40)}


@pytest.mark.slow
@pytest.mark.parametrize("ctas", [1, 2, 5])
@pytest.mark.parametrize("teams", [None, (2, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("first, second", [("tiled", "registers"), ("leaving", "tiled"), ("dynamic", "tiled"),
                                           ("looping", "leaving")])  # fmt: skip
def test_each_kernel_is_as_it_is_alone(first: str, second: str, teams: Any, ctas: int) -> None:
    """Also where CTAs have no first CTA of the kernel that helps."""
    shapes = [with_memory(Shape(3, 64), first), with_memory(Shape(11, 64), second)]
    same((first, second), shapes, fuse(first, second, shapes=shapes, ctas=ctas, teams=teams, **ASSIST))


@pytest.mark.parametrize("teams", [(1, 1), (2, 1)])
def test_each_cta_runs_once(teams: Any) -> None:
    shapes = [Shape(3, 64), Shape(17, (8, 8))]
    same((COUNTING, COUNTING), shapes, fuse(COUNTING, COUNTING, shapes=shapes, ctas=2, teams=teams, **ASSIST))


def test_what_is_left_is_shared_by_all_teams() -> None:
    """The first kernel has one short CTA; the second one's first CTA takes as long as all others together. Its team
    alone would take twice as long."""
    shapes = [Shape(1, 32), Shape(60, 32)]
    limit = 3 * 600 + 40 * 60

    def run(assist: bool) -> None:
        woven = fuse("registers", LONG_FIRST, shapes=shapes, ctas=1, fold="ticket", assist=assist)
        goptx.emulate(woven, args=[[outputs(s), LIMIT] for s in shapes], max_steps=limit)

    run(True)
    with pytest.raises(EmulationFault):
        run(False)


@pytest.mark.parametrize("ctas", [1, 4])
def test_counters_are_as_before_when_the_launch_has_ended(ctas: int, launches: list[Launch]) -> None:
    shapes = [Shape(3, 64), Shape(12, 64)]
    woven = fuse("tiled", "leaving", shapes=shapes, ctas=ctas, teams=(2, 1), **ASSIST)
    same(("tiled", "leaving"), shapes, woven)
    ran = [launch for launch in launches if any(n.endswith("_counters") for n in launch.program.layout.symbols)]
    assert len(ran) == 2 and not any(counters(launch).any() for launch in ran)


def test_teams_give_up_the_registers_that_the_other_kernel_does_not_have() -> None:
    """So all that run its code have equally many."""
    shapes = [Shape(5, 128), Shape(9, 128)]
    woven = fuse("tiled", "leaving", shapes=shapes, ctas=2, **MOVED, **ASSIST)
    ways = [line.split(".", 1)[1] for line in lines(woven, "setmaxnreg")]
    assert ways == ["inc.sync.aligned.u32 96;", "dec.sync.aligned.u32 40;", "dec.sync.aligned.u32 40;"]
    assert any("and then teams of A those of B" in note for note in woven.report.notes)
    same(("tiled", "leaving"), shapes, woven)
    woven = fuse("tiled", "leaving", shapes=shapes, ctas=2, arch="sm_90a", role_registers=(40, 96), **ASSIST)
    assert any("and then teams of B those of A" in note for note in woven.report.notes)
    same(("tiled", "leaving"), shapes, woven)


@pytest.mark.slow
def test_coarsened_kernels() -> None:
    shapes = [Shape(4, 64), Shape(9, 64)]
    woven = goptx.fuse(
        coarse(KERNELS["registers"], 2), coarse(KERNELS["leaving"], 3), strategy="horizontal", shapes=shapes, ctas=2,
        **ASSIST,
    )  # fmt: skip
    same(("registers", "leaving"), shapes, woven)


@pytest.mark.parametrize(
    "blocks, options, message",
    [
        ((32, 64), {}, "teams of kernel A run CTAs of kernel B, but they have 32 and 64 threads; .* no less than"),
        ((96, 96), {}, "but they have 96 and 96 threads; .* powers of two"),
        (
            (64, 64),
            {"fold": "static"},
            "two kernels with fold=\"ticket\"; these are 2 kernels with fold='static'. Fuse",
        ),
        ((64, 64, 64), {}, "these are 3 kernels with fold='ticket'"),
        ((64, 64), {"fold": None}, "these are 2 kernels with fold=None"),
        ((64, 64), {**MOVED, "teams": (2, 2)}, "a team has 64 threads, which are not whole warpgroups of 128"),
    ],
)
def test_kernels_that_cannot_help(blocks: tuple[int, ...], options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fuse(*["registers"] * len(blocks), shapes=[Shape(4, n) for n in blocks], **{**ASSIST, **options})


@pytest.mark.slow
@pytest.mark.parametrize("blocks, teams", [((128, 32), (1, 1)), ((64, 32), (2, 1)), ((64, 32), (1, 2))])
def test_a_larger_team_becomes_several(blocks: tuple[int, int], teams: tuple[int, int]) -> None:
    """Each has a ticket, shared memory and barriers of its own."""
    for second in ("registers", "tiled", "leaving"):
        shapes = [Shape(3, blocks[0]), Shape(19, blocks[1])]
        woven = fuse("registers", second, shapes=shapes, ctas=2, teams=teams, **ASSIST)
        same(("registers", second), shapes, woven)


def test_parts_are_helped_by_teams_of_their_size() -> None:
    shapes = [Shape(5, 64), Shape(9, 128)]
    same(("tiled", "registers"), shapes, fuse("tiled", "registers", shapes=shapes, ctas=2, parts=(1, 2), **ASSIST))
