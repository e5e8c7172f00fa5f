"""Barriers that no kernel has: where they stand beside other waits, and for which threads of a CTA they wait."""

from __future__ import annotations

import re
from functools import cache

import pytest
from proof.test_ended_threads import TILED
from proof.test_synchronization import ARRIVE, COUNTED, SIDES, SYNC, kernel, proved

import goptx
from goptx import Shape
from goptx.checking.certify import prove_texts
from goptx.proof.certificate import Certificate
from goptx.ptx.parse import parse

BARRIER, ASKING = "barrier.sync 3;", "barrier.red.or.pred %b_p1, 3, %b_p1;"


@pytest.mark.parametrize("added", [BARRIER, ASKING])
def test_a_barrier_of_no_kernel_is_not_between_a_wait_and_what_ends_it(added: str) -> None:
    kernels = [kernel("a", COUNTED), kernel("b", "ret;")]
    for code in (
        f"{added}\n{SIDES.format(one=ARRIVE, two=SYNC, after='')}",
        SIDES.format(one=ARRIVE, two=SYNC, after=added),
        SIDES.format(one=f"{ARRIVE}\n{added}", two=f"{SYNC}\n{added}", after=""),
    ):
        assert (made := proved(kernels, code)), str(made)
    late = SIDES.format(one=f"{added}\n{ARRIVE}", two=f"{SYNC}\n{added}", after="")
    assert "before it does what ends the wait" in str(proved(kernels, late))
    assert not proved(
        kernels, SIDES.format(one=ARRIVE, two=SYNC, after=added.replace(" 3", " 1").replace("1, 3", "1, 1"))
    )


def test_one_reduction_is_not_another() -> None:
    """Threads that are at two barriers of one number reduce in one way."""
    kernels = [kernel("a", "ret;"), kernel("b", "ret;")]
    begin = "mov.u32 %a_r1, %tid.x;\nsetp.ge.u32 %a_p1, %a_r1, 64;\n@%a_p1 bra WAIT;"
    both = f"{begin}\n{{0}}\nret;\nWAIT:\n{{1}}\nret;"
    assert (made := proved(kernels, both.format(ASKING, ASKING))), str(made)
    assert not proved(kernels, both.format(ASKING, ASKING.replace(".or", ".and")))
    assert not proved(kernels, both.format(ASKING, BARRIER))


SHAPES = {
    "part": (Shape(4, 96), Shape(4, 64)),
    "warps": (Shape(4, 64), Shape(2, 32)),
    "CTAs": (Shape(4, 64), Shape(2, 64)),
}


@cache
def text(shapes: str) -> str:
    kernels = parse(TILED, "a.ptx"), parse(TILED, "b.ptx")
    return goptx.fuse(*kernels, strategy="vertical", shapes=list(SHAPES[shapes])).text()


def certificate(changed: str) -> Certificate:
    return prove_texts(changed, [parse(TILED, "a.ptx"), parse(TILED, "b.ptx")])


EDITS = [
    ("warps", r"(bar\.red\.or.*%b_any2, 1), 32", r"\1, 64"),  # it waits for threads that do not come
    ("warps", r"(bar\.red\.or.*%b_any2, 1), 32", r"\1"),
    ("warps", r"(bar\.red\.or.*%b_any2, 1), 32", r"\1, %b_r1"),
    ("warps", r"(bar\.red\.or.*%b_any2), 1, 32", r"\1, 0, 32"),  # at kernel A's barrier
    ("warps", r"(bar\.red\.or.*%b_any2, 1, 32)", r"@%b_run0 \1"),
    ("warps", r"(bar\.red\.or.*%a_any2, 0)", r"\1, 32"),
    ("warps", r"(bar\.red\.or.*%a_any2, 0)", r"\1, 64"),
    ("part", r"(bar\.red\.or.*%b_any2.*\n)", r"\1 vote.sync.any.pred %b_p4, %b_run0, -1; @!%b_p4 bra.uni $exit;\n"),
    ("part", r"(.*bar\.red\.or.*%b_any2)", r"vote.sync.any.pred %b_p4, %b_run0, -1; @!%b_p4 bra.uni $exit;\n\1"),
    ("CTAs", r"(bar\.red\.or.*%b_any2, 1), %b_run0", r"\1, %a_run0"),
    ("CTAs", r"(bar\.red\.or.*%b_any2, 1)", r"\1, 32"),
    ("CTAs", r"bar\.red\.or(.*%b_any2)", r"bar.red.and\1"),
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITS, ids=range(len(EDITS)))
def test_a_barrier_that_waits_for_other_threads_is_refused(edit: tuple[str, str, str]) -> None:
    shapes, pattern, by = edit
    changed = re.sub(pattern, by, text(shapes), count=1)
    assert changed != text(shapes)
    assert certificate(text(shapes))
    assert not certificate(changed)


@pytest.mark.parametrize("place", ["after", "before"])
def test_groups_of_threads_come_to_a_barrier_of_no_kernel_at_the_same_time(place: str) -> None:
    """Kernel A has 64 threads, of which the last 32 are in warps where B is not: a copy of A's code for these has the
    added barrier before A's first barrier, or after it."""
    made = text("warps")
    (ask,) = re.findall(r"    bar\.red\.or\.pred %a_any2, 0, %a_run0;\n    @!%a_any2 bra.*\n", made)
    (loop,) = re.findall(r"(\$\w+:\n(?:.*\n)*?.*@%a_p2 bra\.uni.*\n)", made[made.index(ask) :])
    first, rest = loop.split("    bar.sync 0; // A:23\n")
    head, _, _ = rest.partition("    add.u32 %a_r7")
    assert head and first
    added = "    bar.sync 0;\n"
    by_group = (
        "    mov.u32 %a_r19, %tid.x;\n    setp.ge.u32 %a_p4, %a_r19, 32;\n    @%a_p4 bra.uni $OTHERS;\n"
        "{0}    bar.sync 0; // A:23\n{1}    bra.uni $MEET;\n$OTHERS:\n{2}    bar.sync 0; // A:23\n{3}$MEET:\n"
    )
    old = "    bar.sync 0; // A:23\n"
    same = by_group.format(*((added, "", added, "") if place == "before" else ("", added, "", added)))
    other = by_group.format(*((added, "", "", added) if place == "before" else ("", added, added, "")))
    assert old in made
    assert not certificate(made.replace(old, other, 1))
    assert "groups" not in str(certificate(made.replace(old, same, 1)))
