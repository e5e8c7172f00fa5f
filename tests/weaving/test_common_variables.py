"""Kernels of one module that may depend on each other by its variables: a warning and a note say so."""

import warnings
from typing import Any

import pytest
from bodies import HEAD

import goptx
from goptx import Shape
from goptx.errors import DependenceWarning
from goptx.options import Strategy
from goptx.ptx.ir import Module

ENTRY = """
.visible .entry {name}(.param .u64 {name}_out)
{{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [{name}_out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
    mov.u64 %rd3, {variable}; add.s64 %rd4, %rd3, %rd2;
    {code}
    ret;
}}
"""
READ = "ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd1], %r2;"
WRITE = "ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd4], %r2;"
COUNT = "atom.global.add.u32 %r2, [%rd3], 1; st.global.u32 [%rd1], %r2;"
SHAPES = [Shape(2, 32)] * 2


def module(first: str, second: str, variables: tuple[str, str] = ("table", "table")) -> Module:
    entries = zip("ab", (first, second), variables, strict=True)
    text = "".join(ENTRY.format(name=name, code=code, variable=variable) for name, code, variable in entries)
    return goptx.read(f"{HEAD}.global .align 4 .u32 table[64];\n.global .align 4 .u32 other[64];\n{text}")


@pytest.mark.parametrize("strategy", ["weave", "vertical", "interleave", "horizontal"])
@pytest.mark.parametrize(("first", "second"), [(WRITE, READ), (READ, WRITE), (WRITE, WRITE), (COUNT, READ)])
def test_kernels_of_which_one_writes(strategy: Strategy, first: str, second: str) -> None:
    both = module(first, second)
    with pytest.warns(DependenceWarning, match="kernels A .`a`. and B .`b`. both access `table` of their module"):
        fused = goptx.fuse(both, both, entries=["a", "b"], strategy=strategy, shapes=SHAPES)
    assert sum("both access `table`" in note for note in fused.report.notes) == 1


def test_a_kernel_that_is_given_twice() -> None:
    both = module(WRITE, READ)
    with pytest.warns(DependenceWarning, match="and B .`a`. both access `table`"):
        goptx.weave(both, both, entries=["a", "a"])


@pytest.mark.parametrize(
    ("kernels", "options"),
    [
        (module(READ, READ), {}),
        (module(WRITE, READ, ("table", "other")), {}),
        (module(WRITE, READ), {"strategy": "separate"}),
        (module(WRITE, READ), {"strategy": "vertical", "depends": True}),
    ],
)
def test_kernels_that_are_right(kernels: Module, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependenceWarning)
        try:
            fused = goptx.fuse(kernels, kernels, entries=["a", "b"], **options)
        except goptx.GoptxError as refused:
            assert options.get("depends"), refused
        else:
            assert "both access" not in " ".join(fused.report.notes)


def test_other_modules_have_variables_of_their_own() -> None:
    first, second = module(WRITE, READ), goptx.read(str(module(WRITE, READ)).replace("[64]", "[65]"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependenceWarning)
        goptx.weave(first, second, entries=["a", "b"])
