"""A header for C99 and C++ for launching a kernel: its name, the order of its arguments, the shape of its launch.

Known values are constants. Values that depend on the launch are computed by a function from the shapes of the kernels,
by the formulas of `Plan`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from goptx.display import columns
from goptx.launch.launch_plan import COUNTERS, TICKETS, Plan
from goptx.launch.launching import Launch
from goptx.launch.parameter import Parameter
from goptx.launch.shape import Axes
from goptx.options import AXES
from goptx.results.fused_kernel import Woven
from goptx.view.c_launch import HEAD, launch_function

_ACCESS = {
    "read": "pointer, read",
    "written": "pointer, written",
    "both": "pointer, read and written",
    "unknown": "pointer, not followed: may be read and written",
    "none": "",
}
_ROLES = {
    "grid": "CTAs of kernel {0} along {1}",
    "block": "threads of a CTA of kernel {0} along {1}",
    "shared": "bytes of dynamic shared memory of kernel {0}",
    "spread": "how densely the CTAs of kernel {0} lie",
}


def c_header(woven: Woven) -> str:
    """The text of the header; constants begin with GOPTX_ and the entry's name."""
    kernels = ", ".join(f"{letter} ({counts.name})" for letter, counts in woven.report.kernels.items())
    guard = f"GOPTX_{_constant(woven.name)}_H"
    lines = [
        f"/* How to launch {woven.name}: {woven.strategy}, of the kernels {kernels}. Written by goptx. */",
        f"#ifndef {guard}",
        f"#define {guard}",
    ]
    entries = ["", *(line for launch in woven.launches for line in (*_entry(launch), ""))]
    if any("goptx_shape" in line for line in entries):
        lines += ["", *HEAD.splitlines()]
    limits = [f"with {limit} only" for limit in woven.limits]
    for where in [*(["in grids and blocks along x only"] if woven.along_x else []), *limits]:
        entries[-1:] = [f"/* It is right {where}. */", ""]
    return "\n".join([*lines, *entries, f"#endif /* {guard} */", ""])


def _entry(launch: Launch) -> Iterator[str]:
    name, params, plan = launch.entry, launch.params, launch.plan
    prefix = f"GOPTX_{_constant(name)}"
    passed = [p for p in params if p.instead is None]
    numbers = _numbers(params)
    yield f'#define {prefix}_NAME "{name}"'
    yield f"#define {prefix}_ARGUMENTS {len(passed)}"
    yield ""
    rows = [(str(i), numbers[p.name], p.original, p.type, str(p.size), _meaning(p)) for i, p in enumerate(passed)]
    yield "/* Arguments in the order in which cuLaunchKernel takes them."
    head = ("at", "argument", "name", "type", "bytes", "")
    yield from (f" *   {line}" for line in columns([head, *rows]))
    for p in params:
        if p.instead is not None:
            reason = f"equal to {numbers[p.instead]}" if p.instead else "its value does not matter"
            yield f" * Not passed: {numbers[p.name]} ({p.original}), {reason}."
    yield " */"
    for i, p in enumerate(passed):
        yield f"#define {prefix}_{_constant(numbers[p.name])} {i}"
    yield ""
    if plan is None:
        yield "/* Launch it with the grid, the block and the dynamic shared memory that all kernels have in common. */"
        return
    yield from _shape(prefix, plan)
    hidden = [p.role for p in params if p.kernel is None]
    if hidden or not plan.shape.known:
        yield ""
        yield from launch_function(_identifier(name), plan, hidden)


def _numbers(params: Sequence[Parameter]) -> dict[str, str]:
    """The name of each parameter for users, `A:2` or its role, by its name in the fused kernel."""
    count: dict[str, int] = {}
    found = {}
    for p in params:
        if p.kernel is None:
            found[p.name] = p.role
            continue
        found[p.name] = f"{p.kernel}:{count.get(p.kernel, 0)}"
        count[p.kernel] = count.get(p.kernel, 0) + 1
    return found


def _meaning(p: Parameter) -> str:
    if p.kernel is not None:
        return _ACCESS[p.access]
    if p.role == TICKETS:
        return f"number of the launch's counters, below {COUNTERS}; launches that may run at once take different ones"
    kernel, what, *axis = p.role.split(".")
    return _ROLES[what].format(kernel, *axis)


def _shape(prefix: str, plan: Plan) -> Iterator[str]:
    """Constants for the known sizes."""
    own = ", ".join(f"{letter} as {shape}" for letter, shape in zip(plan.letters, plan.shapes, strict=True))
    yield f"/* The shape of the launch: CTAs, threads of a CTA, bytes of dynamic shared memory. Made for {own}. */"
    for what in ("grid", "block"):
        sizes: Axes = plan.axes(what)
        for axis, size in zip(AXES, sizes, strict=True):
            if size is not None:
                yield f"#define {prefix}_{what.upper()}_{axis.upper()} {size}u"
    if plan.shape.shared is not None:
        yield f"#define {prefix}_SHARED {plan.shape.shared}u"


def _constant(name: str) -> str:
    return _identifier(name).upper()


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)
