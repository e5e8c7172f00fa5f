"""The formulas of `Plan` in C: from the shapes of the kernels to the shape of the launch and the hidden arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce

from goptx.launch.coarsening import Coarse
from goptx.launch.launch_plan import ALIGNMENT, COUNTERS, TICKETS, Plan
from goptx.launch.shape import Axes
from goptx.weaving.shapes.partitioned import Partitioned

HEAD = f"""#ifndef GOPTX_SHAPE
#define GOPTX_SHAPE
typedef struct {{
    unsigned int grid[3], block[3], shared; /* CTAs, threads of a CTA, bytes of dynamic shared memory */
}} goptx_shape;
typedef unsigned long long goptx_count;
static inline goptx_count goptx_more(goptx_count a, goptx_count b) {{ return a > b ? a : b; }}
static inline goptx_count goptx_aligned(goptx_count n) {{ return (n + {ALIGNMENT - 1}) / {ALIGNMENT} * {ALIGNMENT}; }}
static inline goptx_count goptx_spread(goptx_count ctas, goptx_count total)
{{
    const goptx_count ratio = ((ctas << 32) + total - 1) / total;
    const goptx_count limit = total > 1 ? ((ctas << 32) - 1) / (total - 1) : ratio;
    return (limit < ratio ? limit : ratio) - 1;
}}
#endif
"""


def launch_function(name: str, plan: Plan, roles: Sequence[str]) -> Iterator[str]:
    """The lines of `goptx_NAME_launch`, which calls functions of `HEAD`; `roles` are those of the entry's hidden
    parameters."""
    letters = ", ".join(plan.letters)
    yield f"/* Computes the shape `launch` from `kernels`: the shapes in which {letters} would be launched alone, in"
    yield " * this order. Sizes that are constants above have to be the same in `kernels`."
    if roles:
        yield " * `hidden` are the arguments after those of the kernels."
    yield " */"
    hidden = ", unsigned int *hidden" if roles else ""
    yield f"static inline void goptx_{name}_launch(const goptx_shape *kernels, goptx_shape *launch{hidden})"
    yield "{"
    done = list(_body(plan, roles))
    for name, value in _counts(plan):
        if any(re.search(rf"\b{name}\b", line) for line in done):
            yield f"    const goptx_count {name} = {value};"
    yield from (f"    {line};" for line in done)
    yield "}"


def _counts(plan: Plan) -> Iterator[tuple[str, str]]:
    """Named intermediate values: for each kernel, the CTAs that run it, and the bytes of shared memory it needs."""
    for k in range(len(plan.letters)):
        yield f"ctas{k}", _product(_coarse(plan.coarse[k], _own(plan, k, "grid")))
        yield f"bytes{k}", _needed(plan, k)


def _body(plan: Plan, roles: Sequence[str]) -> Iterator[str]:
    yield from (f"launch->grid[{i}] = {size}" for i, size in enumerate(_grid(plan)))
    yield from (f"launch->block[{i}] = {size}" for i, size in enumerate(_block(plan)))
    yield from _shared(plan)
    for i, role in enumerate(roles):
        if role == TICKETS:
            yield f"hidden[{i}] = 0 /* below {COUNTERS}; launches that may run at once take different numbers */"
            continue
        letter, what, *axis = role.split(".")
        yield f"hidden[{i}] = {_hidden(plan, plan.letters.index(letter), what, *axis)}"


def _own(plan: Plan, k: int, what: str) -> list[str]:
    """The kernel's own sizes along each axis."""
    sizes: Axes = plan.shapes[k].axes(what)
    return [f"kernels[{k}].{what}[{i}]" if n is None else f"{n}" for i, n in enumerate(sizes)]


def _coarse(coarse: Coarse, sizes: list[str]) -> list[str]:
    """The formula of `Coarse.grid`."""
    along, factor = sizes[coarse.axis], coarse.factor
    parts = f"({along} / {factor} + {along} % {factor})" if factor > 1 else along
    return [parts if i == coarse.axis else size for i, size in enumerate(sizes)]


def _grid(plan: Plan) -> list[str]:
    """The grid, by the formula of `Plan.launched`."""
    known, ctas = plan.axes("grid"), [f"ctas{k}" for k in range(len(plan.letters))]
    if None not in known:
        return list(map(str, known))
    if plan.common_grid and not plan.overlaid:
        return _coarse(plan.common_grid, _own(plan, 0, "grid"))
    return [_cast(" + ".join(ctas) if plan.overlaid else _most(ctas)), "1", "1"]


def _block(plan: Plan) -> list[str]:
    known = plan.axes("block")
    if None not in known:
        return list(map(str, known))
    if plan.same_shape and not isinstance(plan, Partitioned):
        return _own(plan, 0, "block")
    return [_cast(_most([_product(_own(plan, k, "block")) for k in range(len(plan.letters))])), "1", "1"]


def _needed(plan: Plan, k: int) -> str:
    """The formula of `Plan.needed`."""
    shared, carved, copies = plan.shapes[k].shared, plan.carved[k], plan.coarse[k].factor
    if shared is not None:
        return str(plan.needed(k, plan.shapes))
    own = f"kernels[{k}].shared"
    part = f"({own} ? goptx_aligned({carved}) + {own} : {carved})" if carved else own
    return part if copies == 1 else f"{copies - 1} * goptx_aligned({part}) + {part}"


def _shared(plan: Plan) -> Iterator[str]:
    """The end of `Plan.offsets`: a kernel that needs no bytes does not move it."""
    if plan.shape.shared is not None:
        yield f"launch->shared = {plan.shape.shared}"
    elif plan.overlaid:
        yield f"launch->shared = {_cast(_most([f'bytes{k}' for k in range(len(plan.letters))]))}"
    else:
        first, *others = plan.order
        yield f"launch->shared = {_cast(f'bytes{first}')}"
        for k in others:
            yield f"if (bytes{k}) launch->shared = {_cast(f'goptx_aligned(launch->shared) + bytes{k}')}"


def _hidden(plan: Plan, k: int, what: str, axis: str = "") -> str:
    """The formula of `Plan.values`."""
    if what == "shared":
        return f"kernels[{k}].shared"
    if what != "spread":
        return f"kernels[{k}].{what}[{'xyz'.index(axis)}]"
    total = "(goptx_count)launch->grid[0] * launch->grid[1] * launch->grid[2]"
    if plan.overlaid:
        total = " + ".join(f"ctas{i}" for i in range(k, len(plan.letters)))
    return _cast(f"goptx_spread(ctas{k}, {total})")


def _cast(count: str) -> str:
    return f"(unsigned int)({count})"


def _product(sizes: Sequence[str]) -> str:
    factors = [size for size in sizes if size != "1"] or ["1"]
    return f"(goptx_count){' * '.join(factors)}"


def _most(values: Sequence[str]) -> str:
    return reduce(lambda most, value: f"goptx_more({most}, {value})", values)
