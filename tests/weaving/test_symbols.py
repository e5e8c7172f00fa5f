"""Kernels of several modules, of which each needs some symbols: kernels of one module share its variables, kernels of
different modules share none, and each calls its module's functions."""

import re
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

import goptx
from goptx.options import Strategy
from goptx.ptx.ir import Function, Module, Variable
from goptx.results.fused_kernel import Woven

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
VARIABLES = ("g0", "g1", "c0")
FUNCTIONS = ("f0", "f1", "f2")
STRATEGIES: tuple[Strategy, ...] = ("weave", "interleave", "vertical", "separate")
Kernel = tuple[Module, str]


def module(random: Random, entries: Sequence[str]) -> Module:
    """Each entry uses some of the symbols. Those of different modules have equal names, and mostly equal text."""
    number = random.choice([1, 1, 2])
    items = [".global .align 4 .u32 g0;", f".global .align 4 .u32 g1 = {number};", ".const .align 4 .u32 c0 = 5;"]
    bodies = {f"f{i}": uses(random, (*VARIABLES, *FUNCTIONS[:i])) + f"add.u32 %r1, %r1, {number};" for i in range(3)}
    items += [f".func {f}(.param .b32 x) {{ .reg .b32 %r<4>; {body} ret; }}" for f, body in bodies.items()]
    items += [
        f".visible .entry {e}(.param .u64 p) {{ .reg .b32 %r<4>; {uses(random, (*VARIABLES, *FUNCTIONS))} ret; }}"
        for e in entries
    ]
    return goptx.read(HEAD + "\n".join(items))


def uses(random: Random, symbols: Sequence[str]) -> str:
    return "".join(use(s) for s in symbols if random.random() < 0.3)


def use(symbol: str) -> str:
    """The names within hide those of a kernel, and of another symbol."""
    if symbol.startswith("f"):
        return f"{{ .param .b32 a; st.param.b32 [a], 1; call.uni {symbol}, (a); }}"
    space, hidden = ("const", "f0") if symbol == "c0" else ("global", "c0")
    return f"{{ ld.{space}.u32 %r1, [{symbol}]; bra {hidden}; {hidden}: }}"


def fused(kernels: Sequence[Kernel], strategy: Strategy) -> Woven:
    modules, entries = zip(*kernels, strict=True)
    if strategy != "interleave":
        return goptx.fuse(*modules, strategy=strategy, entries=entries)
    return goptx.fuse(*modules, strategy=strategy, entries=entries, shapes=[goptx.Shape(2, 32)] * len(kernels))


@pytest.mark.parametrize("seed", range(24))
def test_symbols_of_several_modules(seed: int) -> None:
    random = Random(seed)
    modules = [(module(random, names), names) for names in (["a", "b", "c"], ["d", "e"], ["f"])]
    kernels = [(m, random.choice(names)) for m, names in random.choices(modules, k=random.choice([3, 3, 4, 5]))]
    woven = fused(kernels, random.choice(STRATEGIES))
    items = {i.name: i for i in woven.module.items if isinstance(i, Function | Variable)}
    owner: dict[str, Module] = {}
    names: dict[tuple[int, str], str] = {}
    for (own, _), letter in zip(kernels, "ABCDE", strict=False):
        for old, new in woven.symbols[letter].items():
            if old in VARIABLES:
                assert owner.setdefault(new, own) is own, f"{new} belongs to two modules"
                assert names.setdefault((id(own), old), new) == new, f"{old} is two variables"
            elif old in FUNCTIONS:
                assert used(items[new]) == {woven.symbols[letter][n] for n in used(own_function(own, old))}


def own_function(own: Module, name: str) -> Function:
    return next(f for f in own.functions if f.name == name)


def used(item: Function | Variable) -> set[str]:
    return {w for words in re.findall(r"call\.uni (\w+)|\[(\w+)\]", str(item)) for w in words} - {"", "x", "a"}


COUNTER = """.global .align 4 .u32 counter;
.visible .entry idle(.param .u64 p) { ret; }
.visible .entry count(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %d<2>; ld.param.u64 %d1, [p];
    atom.global.add.u32 %r1, [counter], 1; st.global.u32 [%d1], %r1; ret; }
"""


def test_a_counter_that_only_the_last_kernel_of_a_module_needs() -> None:
    """The first one does not need it, and another module has one of that name."""
    one, other = (goptx.read(HEAD + COUNTER + end) for end in ("", "\n.global .u32 more;"))
    woven = fused([(one, "idle"), (other, "count"), (one, "count")], "weave")
    assert woven.symbols["B"]["counter"] != woven.symbols["C"]["counter"]
    counted = [np.full(1, 9, np.uint32) for _ in range(3)]
    goptx.emulate(woven, 1, 1, [[array] for array in counted])
    assert [int(array[0]) for array in counted] == [9, 0, 0]
