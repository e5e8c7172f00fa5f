"""Folded grids by tickets: a team that is done takes the next virtual CTA that is left."""

from typing import Any

import numpy as np
import pytest
from strategies.test_folded import ALL_IDS, COUNTING, NEIGHBOUR, OWN_ID, fuse
from weaving.compared import LIMIT, alone, coarse, lines, outputs, same
from weaving.shaped_kernels import HEAD, KERNELS, kernel, stored

import goptx
from goptx import CannotWeave, EmulationFault, Shape
from goptx.emulator import emulate as emulating
from goptx.emulator.emulated_launch import Launch
from goptx.emulator.emulation import Emulation
from goptx.emulator.memory.address_spaces import WINDOWS
from goptx.launch.launch_plan import COUNTERS
from goptx.view.c_header import c_header

TICKETS: dict[str, Any] = {"fold": "ticket"}


# counters -------------------------------------------------------------------------------------------------


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """Those that are emulated."""
    made: list[Launch] = []

    class Recorded(Launch):
        def __post_init__(self) -> None:
            super().__post_init__()
            made.append(self)

    monkeypatch.setattr(emulating, "Launch", Recorded)
    return made


def counters(launch: Launch) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """What the counters of all launches hold; two for each launch."""
    (symbol,) = [s for n, s in launch.program.layout.symbols.items() if n.endswith("_counters")]
    start = symbol.address - WINDOWS["global"]
    return launch.spaces["global"].bytes[start : start + symbol.size].view(np.uint32)


def beside_others(monkeypatch: pytest.MonkeyPatch, own: list[int]) -> None:
    """All counters but these hold what other launches have left there."""
    run = Launch.run

    def beside(launch: Launch) -> Emulation:
        found = counters(launch)
        found[:] = 2
        found[own] = 0
        return run(launch)

    monkeypatch.setattr(Launch, "run", beside)


@pytest.mark.parametrize("ctas", [1, 2, 5, 12])
def test_counters_are_as_before_when_the_launch_has_ended(ctas: int, launches: list[Launch]) -> None:
    """So a launch after it on the same stream, or of the same graph, needs no memset."""
    shapes = [Shape(7, 64), Shape(12, 32)]
    woven = fuse("tiled", "leaving", shapes=shapes, ctas=ctas, **TICKETS)
    same(("tiled", "leaving"), shapes, woven)
    ran = [launch for launch in launches if any(n.endswith("_counters") for n in launch.program.layout.symbols)]
    assert len(ran) == 2 and not any(counters(launch).any() for launch in ran)


def test_a_launch_uses_its_own_counters_only(monkeypatch: pytest.MonkeyPatch, launches: list[Launch]) -> None:
    """All others hold what launches that still run have left there."""
    shapes = [Shape(7, 64), Shape(12, 32)]
    woven = fuse("tiled", "registers", shapes=shapes, ctas=3, **TICKETS)
    number, outs = 5, [outputs(s) for s in shapes]
    own = [2 * number, 2 * number + 1]
    expected = [alone(KERNELS[name], shape) for name, shape in zip(("tiled", "registers"), shapes, strict=True)]
    beside_others(monkeypatch, own)
    goptx.emulate(woven.ptx, 3, 96, [outs[0], LIMIT, outs[1], LIMIT, number], races=True)
    left = counters(launches[-1])
    assert not left[own].any() and (np.delete(left, own) == 2).all()
    for out, wanted in zip(outs, expected, strict=True):
        np.testing.assert_array_equal(out, wanted)


def test_the_number_of_the_counters_is_a_hidden_parameter() -> None:
    shapes = [Shape(4, 64), Shape(4, 64)]
    woven = fuse("registers", "tiled", shapes=shapes, ctas=2, **TICKETS)
    hidden = woven.params[-1]
    assert (hidden.kernel, hidden.role, hidden.type) == (None, "tickets", "u32")
    assert woven.launched(None, None)[1] == [bytes(4)]
    text = c_header(woven)
    assert "hidden[0] = 0 /* below 16384; launches that may run at once take different numbers */" in text
    assert f"number of the launch's counters, below {COUNTERS}" in text


@pytest.mark.slow
def test_grids_of_unknown_size_have_their_parameters_too() -> None:
    launched = [Shape((5, 3), 64), Shape(11, 64)]
    woven = fuse("tiled", "registers", shapes=[Shape(None, 64), Shape(None, 64)], ctas=4, **TICKETS)
    assert [p.role for p in woven.params if p.kernel is None][-1] == "tickets"
    same(("tiled", "registers"), launched, woven)


# who runs what --------------------------------------------------------------------------------------------


LONG_FIRST = kernel(
    "k",
    """
    mov.u32 %r60, 0; setp.eq.u32 %p1, %r2, 0; @!%p1 bra DONE;
    NEXT: add.u32 %r60, %r60, 1; setp.lt.u32 %p2, %r60, 600; @%p2 bra NEXT;
    DONE:
"""
    + stored(["%r60"]),
)


def test_a_team_that_is_busy_leaves_the_rest_to_others() -> None:
    """The first virtual CTA takes long. The team that runs it takes no other, or few."""
    shapes = [Shape(20, 32), Shape(2, 32)]
    limit = 3 * 600 + 4 * 60

    def run(fold: str) -> None:
        woven = fuse(LONG_FIRST, "registers", shapes=shapes, ctas=2, fold=fold)
        goptx.emulate(woven, args=[[outputs(s), LIMIT] for s in shapes], max_steps=limit)

    run("ticket")
    with pytest.raises(EmulationFault):
        run("static")


def test_code_that_draws() -> None:
    woven = fuse("registers", "registers", shapes=[Shape(9, 64), Shape(4, 32)], ctas=2, **TICKETS)
    drawn = lines(woven, "atom.global.inc.u32")
    assert len(drawn) == 2 and drawn[0].endswith(", 8;") and drawn[1].endswith(", 3;")
    assert lines(woven, "barrier.sync") == ["barrier.sync 0, 64;", "barrier.sync 1, 32;"]
    assert any("each runs the next one that is left" in note for note in woven.report.notes)


def test_one_barrier_between_two_virtual_ctas() -> None:
    """The one at which the ticket is given out keeps threads from shared memory that others still read."""
    shapes = [Shape(7, 128), Shape(3, 32)]
    woven = fuse(NEIGHBOUR, "registers", shapes=shapes, ctas=2, **TICKETS)
    assert len(lines(woven, "bar", ".sync", ", 128;")) == 2, "the kernel's own, and that one"
    same((NEIGHBOUR, "registers"), shapes, woven)


@pytest.mark.slow
def test_tickets_are_read_before_the_next_is_written() -> None:
    """Warps of a kernel without barriers begin the next virtual CTA while others still end one."""
    shapes = [Shape(16, 256), Shape(16, 128)]
    same((COUNTING, COUNTING), shapes, fuse(COUNTING, COUNTING, shapes=shapes, ctas=2, **TICKETS))


@pytest.mark.slow
def test_coarsened_kernels_draw_once_for_all_copies() -> None:
    shapes = [Shape(7, 64), Shape((3, 3), 64)]
    woven = goptx.fuse(
        coarse(KERNELS["leaving"], 2), coarse(KERNELS["tiled"], 3), strategy="horizontal", shapes=shapes, ctas=2,
        **TICKETS,
    )  # fmt: skip
    assert len(lines(woven, "atom.global.inc.u32")) == 2
    same(("leaving", "tiled"), shapes, woven)


def test_dynamic_arrays_are_aligned_after_the_tickets() -> None:
    shapes = [Shape(7, 64, 4100), Shape(3, 32)]
    woven = fuse("dynamic", "registers", shapes=shapes, ctas=2, **TICKETS)
    assert lines(woven, ".extern .shared .align 1024")
    same(("dynamic", "registers"), shapes, woven)


@pytest.mark.slow
def test_three_kernels_and_registers_that_move() -> None:
    shapes = [Shape(5, 128), Shape(9, 128), Shape(2, 256)]
    woven = fuse("tiled", "leaving", "registers", shapes=shapes, arch="sm_90a", role_registers=(160, 40, 64), ctas=2,
                 **TICKETS)  # fmt: skip
    assert len(lines(woven, "setmaxnreg")) == 3
    same(("tiled", "leaving", "registers"), shapes, woven)


def test_names_that_kernels_have_already() -> None:
    text = kernel("k", "red.global.add.u32 [%rd1], 1;").replace(
        ".visible .entry", ".global .u32 f_counters = 5; .shared .u32 f_box; .visible .entry"
    )
    text = text.replace("red.global", "st.shared.u32 [f_box], %r3; ld.global.u32 %r50, [f_counters]; red.global")
    shapes = [Shape(5, 32), Shape(4, 32)]
    woven = fuse(text, "registers", shapes=shapes, ctas=2, name="f", **TICKETS)
    assert lines(woven, ".global .align 8 .b8 f_counters_[") and lines(woven, ".shared .align 8 .b8 f_box_[")
    same((text, "registers"), shapes, woven)


# refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, message",
    [
        (OWN_ID, "takes its barrier id from a register, so no id is left for the barrier between"),
        (
            ALL_IDS,
            "each team of folded grids needs barriers of its own, and one more .* more than 16",
        ),
    ],
    ids=["of its own", "all"],
)
def test_barriers_that_are_not_left(text: str, message: str) -> None:
    with pytest.raises(CannotWeave, match=message) as caught:
        fuse(text, "registers", shapes=[Shape(4, 64), Shape(4, 64)], **TICKETS)
    assert caught.value.rule == "barrier-ids"


def test_short_addresses_are_refused() -> None:
    text = HEAD.replace("size 64", "size 32") + ".visible .entry k(.param .u32 k_n) { ret; }"
    with pytest.raises(CannotWeave, match=r"addresses of 64 bits, and the module has .address_size 32") as caught:
        fuse(text, text, shapes=[Shape(4, 64), Shape(4, 64)], **TICKETS)
    assert caught.value.rule == "folded-grids"


def test_the_checker_has_no_rules_for_it() -> None:
    certificate = goptx.prove(fuse("tiled", "registers", shapes=[Shape(8, 64), Shape(4, 64)], ctas=2, **TICKETS))
    assert [gap.rule for gap in certificate.gaps] == ["strategy"] and "folded grids" in str(certificate)


FREE = kernel("k", "red.global.add.u32 [%rd1], 1;")
VARIED = kernel(
    "k",
    "and.b32 %r61, %r1, 7; mov.u32 %r60, 0; NEXT: add.u32 %r60, %r60, 1; setp.le.u32 %p1, %r60, %r61; @%p1 bra NEXT;"
    + stored(["%r60"]),
)


@pytest.mark.parametrize(
    "text, grid, several", [(FREE, 150, 4), (VARIED, 520, 4), (VARIED, 150, 1)], ids=["straight", "loops", "few CTAs"]
)
def test_a_ticket_of_a_large_grid_stands_for_several_ctas(text: str, grid: int, several: int) -> None:
    """Fewer where a kernel has loops, so that its CTAs may last differently long; the last ticket has fewer CTAs."""
    shapes = [Shape(grid, 32), Shape(3, 64)]
    woven = fuse(text, "tiled", shapes=shapes, fold="ticket", ctas=1)
    drawn = lines(woven, "atom.global.inc.u32")[0]
    assert drawn.endswith(f", {-(-grid // several) - 1};")
    same((text, "tiled"), shapes, woven)
    assert bool(lines(woven, "and.b32", f"%a_cta, {several - 1};")) == (several > 1)
    more = fuse(text, "tiled", shapes=shapes, fold="ticket", ctas=1, teams=(3, 1))
    same((text, "tiled"), shapes, more)


def test_each_cta_has_a_ticket_where_warps_need_each_other() -> None:
    woven = fuse("tiled", "registers", shapes=[Shape(150, 32), Shape(3, 64)], fold="ticket", ctas=1)
    assert lines(woven, "atom.global.inc.u32")[0].endswith(", 149;")


def test_tickets_are_drawn_before_a_short_cta_is_run() -> None:
    """And after one with loops, which may last long: who is done first gets the next."""
    for text, early in ((KERNELS["registers"], True), (VARIED, False)):
        woven = fuse(text, "tiled", shapes=[Shape(9, 32), Shape(3, 64)], fold="ticket", ctas=2)
        code = [line.strip() for line in woven.ptx.splitlines()]
        drawn = next(i for i, line in enumerate(code) if "atom.global.inc" in line)
        stored_first = next(i for i, line in enumerate(code) if "st.global" in line and "%a_rd1" in line)
        assert (drawn < stored_first) == early
