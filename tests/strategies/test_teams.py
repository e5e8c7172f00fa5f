"""Several teams of one kernel in a CTA of folded grids: each has threads, shared memory and barriers of its own."""

from typing import Any

import pytest
from strategies.test_folded import COPIED, COUNTING, NEIGHBOUR, fuse
from weaving.compared import LIMIT, coarse, lines, outputs, same, with_memory
from weaving.shaped_kernels import KERNELS, kernel, stored

import goptx
from goptx import CannotWeave, InputError, Shape
from goptx.options import FOLDS

TEAMS: list[tuple[int, int]] = [(1, 2), (2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("teams", TEAMS)
@pytest.mark.parametrize("first, second", [("tiled", "registers"), ("leaving", "looping"), ("dynamic", "tiled")])
def test_each_does_what_its_kernel_does_alone(first: str, second: str, teams: Any, fold: str) -> None:
    shapes = [with_memory(Shape((3, 2, 2), (8, 8)), first), with_memory(Shape(11, 96), second)]
    woven = fuse(first, second, shapes=shapes, fold=fold, ctas=2, teams=teams)
    assert woven.shape and woven.shape.threads == 64 * teams[0] + 96 * teams[1]
    same((first, second), shapes, woven)


@pytest.mark.parametrize("fold", FOLDS)
def test_each_cta_runs_once(fold: Any) -> None:
    shapes = [Shape(7, 64), Shape((3, 3), 32)]
    same((COUNTING, COUNTING), shapes, fuse(COUNTING, COUNTING, shapes=shapes, fold=fold, ctas=2, teams=(2, 3)))


def test_shared_memory_of_each_is_its_own() -> None:
    """With a kernel that has static memory, and one whose only array is dynamic and would need no pool otherwise."""
    shapes = [Shape(7, 128), with_memory(Shape(5, 64), "dynamic")]
    woven = fuse(NEIGHBOUR, "dynamic", shapes=shapes, ctas=2, teams=(2, 2))
    same((NEIGHBOUR, "dynamic"), shapes, woven)
    shapes = [with_memory(Shape(5, 64), "dynamic"), Shape(3, 32)]
    woven = fuse("dynamic", "registers", shapes=shapes, ctas=2, teams=(2, 1))
    assert woven.plan and lines(woven, "mad.lo.u32", f"%a_team, {woven.plan.stride(0)}, ")
    same(("dynamic", "registers"), shapes, woven)


def test_barriers_of_each_are_its_own() -> None:
    """The first team's id, and the number of the team: no constant stands in the barrier."""
    woven = fuse("tiled", "registers", shapes=[Shape(5, 64), Shape(4, 64)], ctas=2, teams=(3, 1))
    assert not lines(woven, "bar.sync 0") and len(lines(woven, "sync %a_barrier0, 64;")) == 3
    assert len(lines(woven, "sync %a_barrier3, 64;")) == 1
    assert lines(woven, "add.u32 %a_barrier") == [
        "add.u32 %a_barrier0, %a_team, 0;",
        "add.u32 %a_barrier3, %a_team, 3;",
    ]


def test_woven_copies_have_ids_that_do_not_change() -> None:
    """What computes an id may not move among the code of several copies of a kernel."""
    shapes = [Shape(6, 64), Shape(4, 64)]
    woven = goptx.fuse(
        coarse(NEIGHBOUR, 3), KERNELS["registers"], strategy="horizontal", shapes=shapes, fold="ticket", ctas=2,
        teams=(2, 1),
    )  # fmt: skip
    same((NEIGHBOUR, "registers"), shapes, woven)


def test_the_first_teams_of_all_ctas_come_first() -> None:
    """A kernel with few CTAs is spread over all SMs: of four teams in two CTAs, the first of each CTA has work."""
    by_team = kernel("k", "atom.global.add.u32 %r60, [%rd1], 1; mov.u32 %r60, %ctaid.x;" + stored(["%r60"]))
    woven = fuse(by_team, "registers", shapes=[Shape(2, 32), Shape(4, 32)], ctas=2, teams=(2, 1))
    assert lines(woven, "mad.lo.u32", ", %a_team, ")
    emulation = goptx.emulate(woven, args=[[outputs(Shape(2, 32)), LIMIT], [outputs(Shape(4, 32)), LIMIT]])
    atomics = sum(n for (letter, _, opcode), n in emulation.instructions.items() if letter == "A" and "atom" in opcode)
    assert atomics == 2


@pytest.mark.slow
@pytest.mark.parametrize("fold", FOLDS)
def test_coarsened_kernels(fold: Any) -> None:
    shapes = [Shape(9, 64), Shape((3, 3), 64)]
    for names in (("tiled", "registers"), ("leaving", "looping")):
        woven = goptx.fuse(
            coarse(KERNELS[names[0]], 2), coarse(KERNELS[names[1]], 3), strategy="horizontal", shapes=shapes,
            fold=fold, ctas=2, teams=(2, 2),
        )  # fmt: skip
        same(names, shapes, woven)


@pytest.mark.slow
def test_blocks_that_are_not_whole_warps_and_unknown_grids() -> None:
    launched = [Shape(7, 40), Shape((2, 3), 100)]
    for fold in FOLDS:
        woven = fuse("leaving", "tiled", shapes=[Shape(None, 40), Shape(None, 100)], fold=fold, ctas=2, teams=(2, 2))
        same(("leaving", "tiled"), launched, woven)


def test_registers_are_those_of_all_teams() -> None:
    shapes = [Shape(5, 128), Shape(9, 128)]
    woven = fuse("tiled", "leaving", shapes=shapes, arch="sm_90a", role_registers=(192, 56), ctas=2, teams=(1, 2))
    assert lines(woven, ".maxnreg") == [".maxnreg 104"]  # (192 + 2 * 56) / 3
    assert any("B in threads 128 to 383 (2 teams of 128)" in note for note in woven.report.notes)
    same(("tiled", "leaving"), shapes, woven)


def test_two_teams_of_two_warps_move_registers_together() -> None:
    shapes = [Shape(5, 128), Shape(9, 64)]
    woven = fuse("tiled", "leaving", shapes=shapes, arch="sm_90a", role_registers=(184, 72), ctas=2, teams=(1, 2))
    same(("tiled", "leaving"), shapes, woven)


def test_copies_are_complete_before_the_next_cta_of_a_team() -> None:
    woven = fuse(kernel("k", COPIED), "registers", shapes=[Shape(8, 96), Shape(2, 32)], ctas=1, teams=(2, 1))
    outs = [outputs(Shape(8, 96)), outputs(Shape(2, 32))]
    goptx.emulate(woven, args=[[out, LIMIT] for out in outs], races=True)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"teams": (1, 40)}, r"teams=\(1, 40\) comes to 1344 threads; a CTA has at most 1024"),
        ({"teams": (1,)}, r"teams=\(1,\) takes a number of teams above 0 for each of the 2 kernels"),
        ({"teams": (0, 1)}, "takes a number of teams above 0"),
        ({"fold": None, "teams": (1, 2)}, r"teams=\(1, 2\) is an option of folded grids"),
    ],
)
def test_numbers_that_make_no_sense(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fuse("tiled", "registers", shapes=[Shape(5, 64), Shape(4, 32)], **options)


def test_memory_of_unknown_size() -> None:
    with pytest.raises(InputError, match="each team that runs kernel A has dynamic shared memory of its own, of which"):
        fuse("dynamic", "registers", shapes=[Shape(5, 64, None), Shape(4, 32)], teams=(2, 1))


def test_too_many_barriers() -> None:
    text = kernel("k", "".join(f"bar.sync {i}, 64;" for i in range(6)))
    with pytest.raises(CannotWeave, match="each team of folded grids needs barriers of its own") as caught:
        fuse(text, "registers", shapes=[Shape(4, 64), Shape(4, 64)], teams=(3, 1))
    assert caught.value.rule == "barrier-ids"
