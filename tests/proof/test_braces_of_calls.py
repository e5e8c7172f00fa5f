"""The braces of a call may compute what is passed, and pragmas may say what a load is not used for."""

from __future__ import annotations

import re

import pytest
from proof.fused_text import ADDRESS, BOTH, STORE, Given, certificate
from proof.test_calls import STORES, kernel

import goptx
from goptx.checking.certify import prove_texts
from goptx.options import Strategy
from goptx.proof.certificate import digest
from goptx.ptx.parse import parse

COMPUTED = kernel(STORES).replace(
    "st.param.b32 [b], 7;", "add.u32 %r3, %r2, 5;\nshl.b32 %r5, %r3, 1;\nst.param.b32 [b], %r5;"
)
REFUSED = {
    "what was stored before": ("shl.b32 %r5, %r3, 1;", "shl.b32 %r2, %r3, 1;\nmov.u32 %r5, %r2;"),
    "a load": ("shl.b32 %r5, %r3, 1;", "ld.global.u32 %r5, [%d3];"),
    "the carry flag": ("shl.b32 %r5, %r3, 1;", "add.cc.u32 %r5, %r3, 1;"),
    "a register of the braces": ("add.u32 %r3, %r2, 5;", ".reg .b32 %x;\nmov.u32 %x, %r2;\nadd.u32 %r3, %x, 5;"),
    "the end": ("shl.b32 %r5, %r3, 1;", "trap;"),
    "after the call": ("call (c), f, (a, b);", "call (c), f, (a, b);\nadd.u32 %r3, %r2, 5;"),
}

CHANGES = [
    (r"add\.u32 (%b_r3, %b_r2), 5;", r"add.u32 \1, 6;"),
    (r"shl\.b32 %b_r5, %b_r3", "shl.b32 %b_r5, %b_r2"),
    (r"(\[b\], %b_r)5;", r"\g<1>3;"),
    (r" +shl\.b32 %b_r5.*\n", ""),
]


def text(module: str, strategy: Strategy = "weave") -> str:
    return goptx.fuse(parse(module), parse(module), strategy=strategy).text()


def digest_of(module: str) -> str:
    return digest(str(parse(module)))


def made_of(fused: str, module: str) -> str:
    return str(prove_texts(fused, [parse(module)] * 2))


@pytest.mark.parametrize("strategy", ["weave", "vertical"])
def test_what_is_passed_may_be_computed_in_the_braces(strategy: Strategy) -> None:
    fused = text(COMPUTED, strategy)
    assert re.search(r"\{\n[^}]*add\.u32 %a_r3[^}]*call", fused)
    assert made_of(fused, COMPUTED).startswith("proved")
    for old, new in CHANGES:
        changed = re.sub(old, new, fused, count=1)
        assert changed != fused and made_of(changed, COMPUTED).startswith("not proved"), (old, new)


def test_lines_of_the_source_stand_in_braces_and_pragmas_do_not() -> None:
    fused = text(COMPUTED)
    store, *_ = re.findall(r" +st\.param\.b32 \[b\], %b_r5;.*\n", fused)
    assert made_of(fused.replace(store, f".loc 1 2 3\n{store}"), COMPUTED).startswith("proved")
    pragma = '.pragma "nounroll";'
    assert "a call of a form" in made_of(fused.replace(store, f"{pragma}\n{store}"), COMPUTED)


@pytest.mark.parametrize("edit", REFUSED)
def test_braces_that_do_more_are_refused(edit: str) -> None:
    old, new = REFUSED[edit]
    module = COMPUTED.replace(old, new)
    fused = text(COMPUTED)
    assert module != COMPUTED
    assert "a call of a form that the checker does not know" in made_of(
        fused.replace(digest_of(COMPUTED), digest_of(module)), module
    )


LOAD = ADDRESS + "ld.global.u32 %r2, [%d2];\nst.global.u32 [%d2], %r2;"
UNUSED = '.pragma "used_bytes_mask 0x7";'


def test_what_says_that_bytes_are_not_used_may_be_lost() -> None:
    """In the fused kernel it would say so of another load."""
    given = Given(LOAD.replace("ld.global", f"{UNUSED}\nld.global"), STORE)
    right = f"{BOTH}A5\nA6\nB4"
    made = certificate(given, right)
    assert made, str(made)
    assert "which the checker does not know" in str(certificate(given, right.replace("A5", f"{UNUSED}\nA5")))
    for other in ('.pragma "used_bytes_mask 0x7", "other";', '.pragma "enable_smem_spilling";'):
        made = certificate(Given(LOAD.replace("ld.global", f"{other}\nld.global"), STORE), right)
        assert "which the checker does not know" in str(made)
