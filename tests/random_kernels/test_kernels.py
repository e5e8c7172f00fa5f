"""Random kernels are what they are meant to be: legal, deterministic, and able to show that a weaver is wrong."""

from hashlib import sha256
from itertools import chain
from typing import Any

import hypothesis
import numpy as np
import pytest
from random_kernels.case import NAMES, Case
from random_kernels.census import OF_NEW
from random_kernels.pairs import Outcome, Wrong, run, run_alone
from random_kernels.search import drawn, search
from random_kernels.ways import trial

import goptx
from goptx.device.assemble import assemble, find_ptxas
from goptx.errors import CannotWeave
from goptx.launch.shape import Shape
from goptx.ptx.parse import parse

SOME = 25


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
def test_ptxas_takes_them() -> None:
    for case in drawn(1, SOME):
        for text, entry in zip(case.texts, NAMES, strict=False):
            assert assemble(text, entry=entry, fmad=False).cubin


@pytest.mark.slow
@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas")
def test_ptxas_takes_what_is_woven_of_them() -> None:
    for case in drawn(2, SOME):
        try:
            woven = trial(case).woven()
        except CannotWeave:
            continue
        assert woven.cubin(fmad=False)


@pytest.mark.slow
def test_they_do_the_same_in_any_order_of_warps() -> None:
    for case in drawn(3, SOME):
        run_alone(case, (0, 1, 2))


@pytest.mark.slow
def test_equal_seeds_give_equal_pairs() -> None:
    assert drawn(4, SOME) == drawn(4, SOME) != drawn(5, SOME)


DRAWN_BY = "6.170.15"  # Hypothesis: others may draw other cases
OLD = {  # checksums of the cases of a seed, as results of earlier days have them
    "weave": "c578d318a87099a9",
    "coarsen": "c1ce04e0673a31d8",
    "horizontal of three": "4351ab86152e1d32",
    "vertical of batched": "88232b05952414ca",
}


@pytest.mark.skipif(hypothesis.__version__ != DRAWN_BY, reason="another Hypothesis")
@pytest.mark.parametrize("way", OLD)
def test_the_old_generator_draws_what_it_drew(way: str) -> None:
    cases = drawn(100_000, SOME, way, "old")
    assert sha256(repr(cases).encode()).hexdigest().startswith(OLD[way])


@pytest.mark.slow
def test_the_new_generator_draws_something_else() -> None:
    assert drawn(4, SOME, generator="old") != drawn(4, SOME)


def test_old_kernels_have_no_new_constructs() -> None:
    found = search(9, SOME, judge=lambda case: Outcome(""), generator="old")
    assert not set(found.census) & {*OF_NEW}


def test_arguments_are_fresh_and_equal() -> None:
    case = drawn(6, 1)[0]
    first, second = case.arguments(), case.arguments()
    for one, other in zip(chain(*first), chain(*second), strict=True):
        assert one is not other and np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.slow
def test_three_kernels_have_what_two_have() -> None:
    cases = [case for number in (7, 8) for case in drawn(number, SOME) if len(case.texts) == 3]
    assert cases
    for case in cases:
        assert len(case.shapes) == len(case.n) == len(case.arguments()) == 3
        run_alone(case, (0, 1))


# What a wrong weaver does has to be seen ------------------------------------------------------------------

BEGIN = """.version 8.0
.target sm_90
.address_size 64
.visible .entry NAME(.param .u64 in, .param .u64 out, .param .u64 totals, .param .u32 n, .param .u32 scale)
{
.reg .b32 %r<4>; .reg .b64 %a<4>; .reg .pred %p;
mov.u32 %r0, %tid.x;
ld.param.u64 %a0, [out];
mad.wide.u32 %a1, %r0, 192, %a0;
"""
STORE = "st.global.u32 [%a1], %r0;\nret;\n}\n"
GUARDED = "setp.ge.u32 %p, %r0, 7;\n@%p ret;\n"
TWICE = "st.global.u32 [%a1], %r0;\n"


def case_with(first: str) -> Case:
    texts = BEGIN.replace("NAME", "first") + first + STORE, BEGIN.replace("NAME", "second") + STORE
    return Case(texts, (Shape(1, 33),) * 2, (33, 33), (0, 0), "latency", "adaptive", 0)


@pytest.mark.parametrize(("first", "instead", "message"), [
    ("add.u32 %r0, %r0, 1;\n", "add.u32 %r0, %r0, 2;\n", "A:out\\[0\\] is 2, not 1; 33 of"),
    (GUARDED, "", "A:out\\[336\\] is 7, not 2779096485; 26 of"),
    ("", "mov.u64 %a1, 0;\n", "EmulationFault: .*out of bounds"),
    (TWICE, "\n", r"A: `st.global.u32 \[%a1\], %r0;` in line 10 is executed 0 times, not 33"),
    ("", "bra.uni L; L: bra L;\n", "EmulationFault: .*step limit"),
])  # fmt: skip
def test_a_wrong_weaver_is_found(monkeypatch: pytest.MonkeyPatch, first: str, instead: str, message: str) -> None:
    """The kernels alone are those that were asked for, the woven one is made of others."""
    asked, other = case_with(first), case_with(instead)
    assert run(asked) == Outcome("", 1.0)
    fuse = goptx.fuse

    def wrong(*modules: Any, **options: Any) -> goptx.Woven:
        texts = [parse(t, m.source) for t, m in zip(other.texts, modules, strict=True)]
        return fuse(*texts, **options)

    monkeypatch.setattr(goptx, "fuse", wrong, raising=False)
    with pytest.raises(Wrong, match=message):
        run(asked)
