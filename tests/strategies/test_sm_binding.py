"""binding="sm": the SM on which a CTA begins decides which kernel it runs; every CTA of both kernels runs once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.test_folded import BY_SM, COUNTING
from strategies.test_interleave import WHERE, fuse
from strategies.test_tickets import beside_others, counters, launches
from weaving.compared import LIMIT, alone, coarse, lines, outputs, same, with_memory
from weaving.shaped_kernels import HEAD, KERNELS, WORDS

import goptx
from goptx import CannotWeave, InputError, Shape
from goptx.emulator.emulated_launch import Launch
from goptx.results.fused_kernel import Woven

__all__ = ["launches"]

SmOf = Callable[[Launch, Any], Any]


def on_sms(monkeypatch: pytest.MonkeyPatch, sm_of: SmOf) -> None:
    """CTAs begin in the order of their numbers, on the SMs that the function gives for these."""
    monkeypatch.setattr(Launch, "sm_of", sm_of)


def by_sm(shapes: Sequence[Shape], **options: Any) -> list[str]:
    """The kernels of the CTAs that began on each SM, in no order."""
    woven = fuse(WHERE, WHERE, shapes=shapes, binding="sm", **options)
    outs = [outputs(s) for s in shapes]
    goptx.emulate(woven, args=[[out, 0] for out in outs], shapes=shapes)
    found: dict[int, list[str]] = {}
    for k, out in enumerate(outs):
        for sm in out[::WORDS]:
            found.setdefault(int(sm) - 1, []).append("AB"[k])
    assert -1 not in found
    return ["".join(sorted(kernels)) for _, kernels in sorted(found.items())]


# what SMs get -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order", [lambda n: n % 4, lambda n: n // 4, lambda n: n * 7 % 16 % 4], ids=["in turn", "filled", "any"]
)
def test_each_sm_gets_both(monkeypatch: pytest.MonkeyPatch, order: Callable[[Any], Any]) -> None:
    """Whatever order the hardware has: one SM after the other, each filled before the next, or any."""
    on_sms(monkeypatch, lambda launch, ctas: order(ctas))
    assert by_sm([Shape(8, 1), Shape(8, 1)]) == ["AABB"] * 4
    assert by_sm([Shape(12, 1), Shape(4, 1)]) == ["AAAB"] * 4
    assert by_sm([Shape(6, 1), Shape(10, 1)], ratio=(1, 1))[0].startswith("A")


def test_what_is_left_goes_to_any_sm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a kernel has no more CTAs, an SM gets the other's."""
    on_sms(monkeypatch, lambda launch, ctas: ctas % 2)
    found = by_sm([Shape(2, 1), Shape(11, 1)], ratio=(1, 1))
    assert sorted("".join(found)) == ["A"] * 2 + ["B"] * 11 and [len(sm) for sm in found] == [7, 6]


def test_the_ratio_is_that_of_the_grids() -> None:
    def order(first: int | None, second: int | None, **options: Any) -> str:
        woven = fuse(WHERE, WHERE, shapes=[Shape(first, 1), Shape(second, 1)], binding="sm", **options)
        (note,) = [note for note in woven.report.notes if "bound to SMs" in note]
        return note.split("CTAs of ")[-1].split()[0]

    assert order(2048, 1536) == "AABABAB"
    assert order(100, 100) == order(None, None) == order(9, 4, ratio=(1, 1)) == "AB"
    assert (order(1, 5000), order(5000, 1)) == ("ABBBBBBBB", "AAAAAAAAB")
    assert order(3, 7, ratio=(2, 3)) == "ABABB"


# every CTA once ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.tuples(st.integers(1, 40), st.integers(1, 40)), st.integers(0, 9), st.booleans(), st.data())
def test_every_cta_runs_once(grids: tuple[int, int], seed: int, known: bool, data: st.DataObject) -> None:
    shapes = [Shape(n, 1) for n in grids]
    ratio = data.draw(st.none() | st.tuples(st.integers(1, 5), st.integers(1, 5)))
    given_ = shapes if known else [Shape(None, 1)] * 2
    woven = fuse(COUNTING, COUNTING, shapes=given_, binding="sm", ratio=ratio)
    outs = [outputs(s) for s in shapes]
    goptx.emulate(woven, args=[[out, 0] for out in outs], shapes=shapes, seed=seed)
    for out, shape in zip(outs, shapes, strict=True):
        np.testing.assert_array_equal(out, alone(COUNTING, shape))


@pytest.mark.parametrize("sm_of", [
    lambda launch, ctas: ctas * 0,
    lambda launch, ctas: ctas * 1000003 % (1 << 31),
    lambda launch, ctas: ctas * 256 + 7,
], ids=["one SM", "more SMs than there are counters", "SMs that share a counter"])  # fmt: skip
def test_any_numbers_of_sms(monkeypatch: pytest.MonkeyPatch, sm_of: SmOf) -> None:
    on_sms(monkeypatch, sm_of)
    shapes = [Shape((3, 2, 2), (8, 8)), Shape(7, 96)]
    same(("tiled", "registers"), shapes, fuse("tiled", "registers", shapes=shapes, binding="sm"))


@pytest.mark.slow
def test_kernels_of_all_kinds() -> None:
    for names in (("leaving", "looping"), ("dynamic", "tiled"), ("registers", "calling")):
        shapes = [with_memory(Shape((3, 2, 2), (8, 8)), names[0]), with_memory(Shape(11, 96), names[1])]
        if "calling" in names:
            with pytest.raises(CannotWeave, match="the number of its CTA, which a CTA that is bound to an SM draws"):
                fuse(*names, shapes=shapes, binding="sm")
        else:
            same(names, shapes, fuse(*names, shapes=shapes, binding="sm", ratio=(2, 1)))


@pytest.mark.slow
def test_coarsened_kernels() -> None:
    for names, grids in ((("leaving", "tiled"), (7, (3, 3))), (("tiled", "registers"), (8, 9))):
        shapes = [Shape(grids[0], 64), Shape(grids[1], 64)]
        woven = goptx.fuse(
            coarse(KERNELS[names[0]], 2), coarse(KERNELS[names[1]], 3), strategy="interleave", shapes=shapes,
            binding="sm",
        )  # fmt: skip
        same(names, shapes, woven)


@pytest.mark.slow
def test_grids_that_are_known_at_launch_only() -> None:
    launched = [Shape((5, 3), 64), Shape(11, (4, 8))]
    woven = fuse("tiled", "registers", shapes=[Shape(None, 64), Shape(None, (4, 8))], binding="sm")
    assert [p.role for p in woven.params if p.kernel is None] == ["A.grid.x", "A.grid.y", "A.grid.z", "B.grid.x",
                                                                  "B.grid.y", "B.grid.z", "tickets"]  # fmt: skip
    same(("tiled", "registers"), launched, woven)


# counters ---------------------------------------------------------------------------------------------------


def test_the_counter_is_as_before_when_the_launch_has_ended(launches: list[Launch]) -> None:
    shapes = [Shape(7, 64), Shape(12, 32)]
    woven = fuse("tiled", "leaving", shapes=shapes, binding="sm", ratio=(3, 1))
    same(("tiled", "leaving"), shapes, woven)
    ran = [launch for launch in launches if any(n.endswith("_counters") for n in launch.program.layout.symbols)]
    assert len(ran) == 2 and not any(counters(launch).any() for launch in ran)


def test_a_launch_uses_its_own_counter_only(monkeypatch: pytest.MonkeyPatch, launches: list[Launch]) -> None:
    """All others hold what launches that still run have left there."""
    shapes = [Shape(7, 64), Shape(12, 32)]
    woven = fuse("tiled", "registers", shapes=shapes, binding="sm")
    number, outs = 5, [outputs(s) for s in shapes]
    own = [2 * number, 2 * number + 1]
    expected = [alone(KERNELS[name], shape) for name, shape in zip(("tiled", "registers"), shapes, strict=True)]
    beside_others(monkeypatch, own)
    goptx.emulate(woven.ptx, 19, 64, [outs[0], LIMIT, outs[1], LIMIT, number], races=True)
    left = counters(launches[-1])
    assert not left[own].any() and (np.delete(left, own) == 2).all()
    for out, wanted in zip(outs, expected, strict=True):
        np.testing.assert_array_equal(out, wanted)


def test_the_turns_of_sms_may_begin_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not reset, and other launches take turns there at the same time."""
    shapes = [Shape(7, 64), Shape(12, 32)]
    woven = fuse("tiled", "leaving", shapes=shapes, binding="sm")
    assert lines(woven, "_sms[1024];")
    run = Launch.run

    def with_turns(launch: Launch) -> Any:
        for name, symbol in launch.program.layout.symbols.items():
            if name.endswith("_sms"):
                start = symbol.address - launch.spaces["global"].base
                launch.spaces["global"].bytes[start : start + symbol.size] = 0x5A
        return run(launch)

    monkeypatch.setattr(Launch, "run", with_turns)
    same(("tiled", "leaving"), shapes, woven)


def test_a_launch_has_a_counter_of_its_own() -> None:
    woven = fuse("registers", "tiled", shapes=[Shape(4, 64), Shape(4, 64)], binding="sm")
    hidden = woven.params[-1]
    assert (hidden.kernel, hidden.role, hidden.type) == (None, "tickets", "u32")
    assert len(lines(woven, "atom.global.add.u64")) == 2 and len(lines(woven, "atom.global.exch.b64")) == 1


# folded grids -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("fold", ["static", "chunk", "ticket"])
def test_persistent_ctas_of_each_kernel(fold: Any) -> None:
    for options in (
        {},
        {"placement": "spread"},
        {"ratio": (1, 2)},
        {"binding": "sm"},
        {"binding": "sm", "ratio": (2, 1)},
    ):
        for names in (("tiled", "registers"), ("leaving", "looping"), (COUNTING, "dynamic")):
            shapes = [with_memory(Shape((3, 2, 2), (8, 8)), names[0]), with_memory(Shape(11, 96), names[1])]
            woven = fuse(*names, shapes=shapes, fold=fold, ctas=(3, 2), **options)
            assert woven.shape and (woven.shape.ctas, woven.shape.threads) == (5, 96)
            same(names, shapes, woven)


@pytest.mark.slow
@pytest.mark.parametrize("binding", [None, "sm"])
def test_persistent_ctas_of_coarsened_kernels_and_unknown_grids(binding: Any) -> None:
    shapes = [Shape(7, 64), Shape((3, 3), 64)]
    for fold in ("static", "ticket"):
        woven = goptx.fuse(
            coarse(KERNELS["leaving"], 2), coarse(KERNELS["tiled"], 3), strategy="interleave", shapes=shapes,
            fold=fold, ctas=(2, 2), binding=binding,
        )  # fmt: skip
        same(("leaving", "tiled"), shapes, woven)
    launched = [Shape((5, 3), 64), Shape(11, 96)]
    woven = fuse(
        "tiled", "registers", shapes=[Shape(None, 64), Shape(None, 96)], fold="ticket", ctas=(2, 3), binding=binding
    )
    same(("tiled", "registers"), launched, woven)


def test_one_thread_of_a_block_of_several_axes_draws() -> None:
    shapes = [Shape(5, (5, 5, 2)), Shape(6, (8, 8))]
    for options in ({}, {"binding": "sm"}):
        same(
            ("tiled", "leaving"), shapes, fuse("tiled", "leaving", shapes=shapes, fold="ticket", ctas=(2, 2), **options)
        )


def test_three_kernels_and_grids_smaller_than_their_ctas() -> None:
    shapes = [Shape(2, 64), Shape(9, 32), Shape((2, 2), 96)]
    names = ("tiled", "leaving", "looping")
    woven = fuse(*names, shapes=shapes, fold="static", ctas=(4, 2, 3))
    assert woven.shape and woven.shape.ctas == 2 + 2 + 3
    same(names, shapes, woven)


@pytest.mark.parametrize("options", [{}, {"placement": "spread"}, {"ratio": (2, 1)}, {"binding": "sm"}])
def test_grids_that_turn_out_smaller_than_their_ctas(options: Any) -> None:
    """The number of CTAs is in the code, so all of them are launched."""
    launched = [Shape(2, 48), Shape(1, 32)]
    woven = fuse("tiled", "registers", shapes=[Shape(None, 48), Shape(1, 32)], fold="chunk", ctas=(5, 3), **options)
    assert woven.shape and woven.shape.ctas == 5 + 1
    same(("tiled", "registers"), launched, woven)


def test_one_wave_is_shared_out_by_default() -> None:
    woven = fuse("registers", "tiled", shapes=[Shape(40000, 1024), Shape(9000, 1024)], fold="static")
    assert woven.shape and woven.shape.ctas == 132 * 2
    (note,) = [note for note in woven.report.notes if "folded grids" in note]
    assert "132 CTAs run A, 132 CTAs run B, each every n-th of its CTAs" in note and "front" in note


# refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names, options, message",
    [
        ("AB", {"binding": "tpc"}, "binding `tpc` is unknown; expected one of sm, or None"),
        ("ABC", {"binding": "sm"}, 'binding="sm" binds CTAs of two kernels to SMs; these are 3'),
        ("AB", {"binding": "sm", "placement": "front"}, 'placement="front" and binding="sm" both say which CTAs run'),
        ("AB", {"binding": "sm", "ratio": (30, 3)}, r'ratio=\(30, 3\): with binding="sm" at most 32 CTAs take turns'),
        ("AB", {"fold": "all"}, "fold `all` is unknown; expected one of static, chunk, ticket, or None"),
        ("AB", {"ctas": (1, 2)}, r'ctas=\(1, 2\) is an option of folded grids; give fold="static", too'),
        ("AB", {"fold": "static", "ctas": 3}, "ctas=3 takes a number of CTAs above 0 for each of the 2 interleaved"),
    ],
)
def test_options_that_make_no_sense(names: str, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fuse(*["registers"] * len(names), shapes=[Shape(5, 64)] * len(names), **options)


def test_blocks_of_folded_grids_are_known() -> None:
    with pytest.raises(InputError, match=r"the block of kernel B is not known .* meet between two CTAs"):
        fuse("registers", "registers", shapes=[Shape(5, 64), Shape(5, None)], fold="static", ctas=(2, 2))


def test_addresses_by_the_sm_are_refused() -> None:
    with pytest.raises(CannotWeave) as caught:
        fuse(BY_SM, "registers", shapes=[Shape(4, 64), Shape(4, 64)], binding="sm")
    assert caught.value.rule == "sm-number"


def test_short_addresses_are_refused() -> None:
    text = HEAD.replace("size 64", "size 32") + ".visible .entry k(.param .u32 k_n) { ret; }"
    with pytest.raises(CannotWeave, match=r"addresses of 64 bits, .* leave out binding=") as caught:
        fuse(text, text, shapes=[Shape(4, 64), Shape(4, 64)], binding="sm")
    assert caught.value.rule == "folded-grids"


@pytest.mark.parametrize("options, name", [
    ({"binding": "sm"}, "interleave bound to SMs"),
    ({"fold": "static", "ctas": (2, 2)}, "interleave of folded grids"),
])  # fmt: skip
def test_the_checker_has_no_rules_for_it(options: Any, name: str) -> None:
    certificate = goptx.prove(fuse("tiled", "registers", shapes=[Shape(8, 64), Shape(4, 64)], **options))
    assert [gap.rule for gap in certificate.gaps] == ["strategy"] and name in str(certificate)


def test_it_assembles(assembles: Callable[[Woven], None]) -> None:
    shapes = [Shape(12, 64), Shape(4, 64)]
    assembles(fuse("tiled", "dynamic", shapes=[shapes[0], with_memory(shapes[1], "dynamic")], binding="sm"))
    assembles(fuse("tiled", "registers", shapes=shapes, binding="sm", fold="ticket", ctas=(2, 2)))


LIMITS = LIMIT
