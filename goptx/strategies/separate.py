"""separate: the kernels are not fused, but launched one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from goptx.analysis.build_cfg import flow_as_written
from goptx.analysis.values.pointer_effects import pointer_accesses
from goptx.errors import CannotLink, InputError
from goptx.latency.table import LatencyTable, load_table
from goptx.launch.arguments import Access
from goptx.launch.coarsening import ALONE
from goptx.launch.launch_plan import Plan
from goptx.launch.launching import Launch
from goptx.launch.native_code import NativeCode
from goptx.launch.parameter import Accesses, Parameter
from goptx.launch.shape import Shape
from goptx.memo import Deferred
from goptx.options import STREAMS, Assume, Streams
from goptx.ptx.aliases import without_aliases
from goptx.ptx.flatten import flatten
from goptx.ptx.ir import Function, Module, Section, Variable
from goptx.ptx.statics import with_statics_outside
from goptx.ptx.verify import verify
from goptx.ptx.walk import free_name, instructions_of
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Origin, Woven
from goptx.results.given_kernels import Source, kernels_of, shapes_of
from goptx.results.report import Counts, Report
from goptx.sources.kernel_text import Chosen, choose_entry
from goptx.weaving.dependent.common_variables import variables_in_common
from goptx.weaving.emit.counts import count
from goptx.weaving.link.source_lines import NAMES, common_files, lost, tables
from goptx.weaving.link.symbols import module_symbols, reached_symbols, reached_variables
from goptx.weaving.link.target import common_address_size, common_target, common_version
from goptx.weaving.model import Choices
from goptx.weaving.weave import weave

ANY = Shape(None, None, None)


@judged
def separate(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    latency: str | Path | LatencyTable | None = None,
    max_inlined: int | None = None,
    shapes: Sequence[Shape] | None = None,
    assume: Assume | None = None,
    notes: Sequence[str] = (),
    streams: Streams = False,
) -> Woven:
    """The kernels in one module, with an entry for each; `launch` starts them one after the other.

    Coarsened kernels stay coarsened. Other kernels are not changed, except that names which two modules have in common
    become different. Kernels may depend on each other, and may be of a kind that no other strategy takes.

    name: of the result, in messages. Entries keep their names, or get similar ones where two are equal.
    notes: for the report, such as why the kernels are not fused.
    streams: launch them side by side instead; they must be independent then. They become the branches of a CUDA graph,
        which is launched after what was on the stream of the launch before, and before what comes on it later; where
        that stream is captured, they are branches of the captured graph. "reversed" launches the last kernel first.

    A kernel with the machine code of its framework is launched as that, unless `arch` names another architecture, or
    the kernel has variables in global memory.

    Other arguments are those of `weave`; one kernel is enough. Raises `CannotLink` for modules that do not fit.
    """
    if streams not in STREAMS:
        raise InputError(f"streams={streams!r} is not one of {', '.join(map(repr, STREAMS))}.")
    kernels = kernels_of(sources, entries, least=1, what="separate()", max_inlined=max_inlined)
    given = shapes_of(sources, shapes, kernels)
    own: Sequence[Shape | None] = given or [k.shape for k in kernels]
    _check_state(kernels)
    table = load_table(latency, common_target([k.module for k in kernels], arch)[0])
    choices = Choices("concat", None, table)
    letters = [chr(ord("A") + i) for i in range(len(kernels))]
    parts = [
        _as_it_is(k, letter, choices, shape, arch) if k.coarse == ALONE else _coarsened(k, letter, arch, table, shape)
        for letter, k, shape in zip(letters, kernels, own, strict=True)
    ]
    module, symbols = in_one_module([p.module for p in parts], [p.entry for p in parts], arch)
    title = name if name is not None else "_".join(dict.fromkeys(k.entry for k in kernels)) + "_separate"
    plans = [p.plan for p in parts]
    return Woven(
        module,
        title,
        tuple(Launch(entry.name, p.params, p.plan, p.native) for entry, p in zip(module.entries, parts, strict=True)),
        Report(
            kernels={p.letter: p.counts for p in parts},
            merged=_total(title, [p.counts for p in parts]),
            woven_fraction=0.0,
            policy=choices.policy,
            slicing=choices.slicing,
            latency=table.arch,
            divergences=(),
            notes=(*lost([k.module for k in kernels]), *notes),
        ),
        tuple(o for part in parts for o in part.origins),
        {
            p.letter: {old: own[new] for old, new in p.symbols.items() if new in own}
            for p, own in zip(parts, symbols, strict=True)
        },
        Plan(
            tuple(p.letter for p in parts),
            tuple(p.shapes[0] for p in plans),
            "spread",
            tuple(p.carved[0] for p in plans),
            tuple(p.coarse[0] for p in plans),
            common=given is None,
        ),
        "separate",
        tuple(kernels),
        depends=not streams,
        streams=streams,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """One kernel before names are made distinct: its entry in the module, and how that is launched. `symbols` are the
    names there of variables and functions of its own module. `params` and `origins` have the kernel's letter."""

    letter: str
    module: Module
    entry: str
    counts: Counts
    params: tuple[Parameter, ...]
    origins: tuple[Origin | None, ...]
    symbols: Mapping[str, str]
    plan: Plan
    native: NativeCode | None = None


def _as_it_is(kernel: Chosen, letter: str, choices: Choices, shape: Shape | None, arch: str | None) -> _Part:
    module = with_statics_outside(without_aliases(kernel.module))
    entry = choose_entry(module, kernel.entry)
    reached = Deferred(lambda: pointer_accesses(entry, module.address_size))
    flow = flow_as_written(entry.body, module.source)
    return _Part(
        letter,
        module,
        entry.name,
        count(entry.name, flow, choices.cycles),
        tuple(_parameter(letter, p, reached) for p in entry.parameters),
        tuple(Origin(letter, module.source, i.line) for i in instructions_of(entry)),
        {name: name for name in reached_symbols(module, entry)},
        Plan((letter,), (shape or ANY,), "spread", (0,), (ALONE,)),
        _native(kernel, module, entry, arch),
    )


def _parameter(letter: str, variable: Variable, reached: Deferred[Mapping[str, Access]]) -> Parameter:
    name = variable.name
    accesses = Deferred(lambda: Accesses(reached.value[name]))
    return Parameter(letter, name, name, variable.type, variable.size, accesses=accesses)


def _native(kernel: Chosen, module: Module, entry: Function, arch: str | None) -> NativeCode | None:
    """The framework's machine code, if it does what the kernel of this module does: variables in global memory would be
    others there."""
    if arch is not None and arch != module.target[0]:
        return None
    return None if any(v.space == ".global" for v in reached_variables(module, entry)) else kernel.native


def _coarsened(kernel: Chosen, letter: str, arch: str | None, table: LatencyTable, shape: Shape | None) -> _Part:
    made = weave(kernel, arch=arch, latency=table, shapes=None if shape is None else [shape])
    assert made.plan

    def origin(of: Origin | None) -> Origin | None:
        return of and replace(of, kernel=letter)

    params = [replace(p, kernel=p.kernel and letter, role=p.role.replace("A.", f"{letter}.", 1)) for p in made.params]
    counts = replace(made.report.merged, name=kernel.entry)
    return _Part(
        letter, made.module, made.name, counts, tuple(params), tuple(map(origin, made.origins)), made.symbols["A"],
        replace(made.plan, letters=(letter,), common=False),
    )  # fmt: skip


def _check_state(kernels: Sequence[Chosen]) -> None:
    """Kernels of one module have its variables in common. A coarsened kernel is not in that module any more."""
    for one, other in combinations(kernels, 2):
        if one.coarse == other.coarse == ALONE:
            continue
        if common := variables_in_common(one, other):
            raise CannotLink(
                f"{one.module.source}:{common[0].line}: `{one.entry}` and `{other.entry}` have the variable "
                f"`{common[0].name}` of their module in common, which separate launches cannot keep while one of them "
                "is coarsened; give that kernel as it is.",
                rule="module-symbols",
            )


def _total(name: str, counts: Sequence[Counts]) -> Counts:
    numbers = [f for f in Counts.__dataclass_fields__ if f != "name"]
    return Counts(name, **{n: sum(getattr(c, n) for c in counts) for n in numbers})


def in_one_module(
    modules: Sequence[Module], entries: Sequence[str], arch: str | None
) -> tuple[Module, list[dict[str, str]]]:
    """A module with these entries, one of each of the modules, with distinct names; and for each module, the new names
    of its symbols by their old ones. Raises `CannotLink`."""
    size = common_address_size(modules)
    modules = common_files(modules)
    chosen = [next(e for e in m.entries if e.name == name) for m, name in zip(modules, entries, strict=True)]
    target = common_target(modules, arch)
    symbols, items = module_symbols(modules, chosen)
    taken = {i.name for i in items if isinstance(i, Function | Variable)}
    made = []
    for entry, own in zip(chosen, symbols, strict=True):
        made.append(_entry(entry, free_name(entry.name, taken), own))
    at = tables(modules)
    words = [word for label, text in at.names.items() for word in (label, ":", *text.split())]
    names = [Section(NAMES, tuple(words))] if words else []
    version = common_version(modules, target)
    return verify(Module(version, target, size, (*items, *made, *at.files, *names))), symbols


def _entry(entry: Function, name: str, symbols: dict[str, str]) -> Function:
    changed = {old: new for old, new in symbols.items() if old != new}
    flat = flatten(entry.body or (), lambda n: n, changed)
    body = (*flat.registers, *flat.variables, *flat.code)
    return replace(entry, name=name, body=body, linkage=(".visible",))
