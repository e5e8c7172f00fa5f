"""What each pass gives, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from passes.run_passes import Run

from goptx.analysis.cfg import EXIT, Block, Code, Flow, Region
from goptx.analysis.terminators import Branch, End, Jump, Stop, Switch
from goptx.weaving.merging.dummy_blocks import is_dummy
from goptx.weaving.merging.merge_input import MergeInput, ProductState
from goptx.weaving.merging.merged_blocks import MergedBlock
from goptx.weaving.merging.slice import terminator
from goptx.weaving.model import Kernel

Lines = Iterator[str]


def statements(code: Iterable[object]) -> Lines:
    for item in code:
        yield from (line.strip() for line in str(item).splitlines())


def ending(end: End) -> str:
    match end:
        case Stop():
            return "end"
        case Jump(target):
            return f"-> {target}"
        case Branch():
            tests = " or ".join(str(guard).removeprefix("@") for guard in (end.guard, *end.others))
            lanes = "" if end.uniform else "each lane: "
            return f"{lanes}{tests} ? {end.taken} : {end.fallen}"
        case Switch():
            return f"{'' if end.uniform else 'each lane: '}{end.index} ? {', '.join(end.targets)}"


def blocks(flow: Flow, heads: Mapping[str, str] | None = None) -> Lines:
    """The blocks of a flow; `heads` has the text after the name of each."""
    for name, block in flow.blocks.items():
        yield f"{name}:{(heads or {}).get(name, '')}"
        yield from (f"  {line}" for line in inside(block))


def inside(block: Block) -> Lines:
    yield from statements((*block.pragmas, *block.code))
    if block.region:
        yield from region(block.region)
    yield ending(block.end)


def region(region: Region) -> Lines:
    sides = f", sides {', '.join(region.sides)}" if region.sides else ""
    yield f"region from {region.entry} to {region.leave}{sides}"
    for name, block in region.blocks.items():
        yield f"  {name}:"
        yield from (f"    {line}" for line in inside(block))


def name_of(kernel: Kernel) -> str:
    copy = f", copy {kernel.copy}" if kernel.copy else ""
    return f"kernel {kernel.letter}, {kernel.entry.name}{copy}"


def linked(run: Run) -> Lines:
    made = run.linked
    yield f".version {made.version[0]}.{made.version[1]}, .target {', '.join(made.target)}"
    yield from statements(made.items)
    for kernel in made.kernels:
        yield name_of(kernel)
        for old, new in zip(kernel.entry.parameters, kernel.parameters, strict=True):
            yield f"  {old.name} is {new.name}"
        yield from (f"  {line}" for line in statements((*kernel.registers, *kernel.variables)))
        yield from (f"  {line}" for line in blocks(kernel.flow))
    yield from (f"note: {note}" for note in made.notes)


def shaped(run: Run) -> Lines:
    made = run.shaped
    if made.plan:
        yield str(made.plan)
    yield from (f"parameter {role}: {variable.name}" for role, variable in made.hidden.items())
    if made.begin:
        yield "before all code:"
        yield from (f"  {line}" for line in statements(made.begin))
    for kernel in made.kernels:
        yield name_of(kernel)
        if kernel.range_guard:
            yield from (f"  guard: {line}" for line in statements(kernel.range_guard.code))
            threads = kernel.range_guard.threads or "all"
            yield f"  skipped if {kernel.range_guard.ended}, barriers wait for {threads} threads"
        yield from (f"  {line}" for line in blocks(kernel.flow))


def simplified(run: Run) -> Lines:
    for kernel in run.simplified.kernels:
        yield name_of(kernel)
        yield from (f"  {line}" for line in statements(r for r in kernel.registers if "_meld" in str(r)))
        yield from (f"  {line}" for line in blocks(kernel.flow))


def converged(run: Run) -> Lines:
    for kernel, made in zip(run.simplified.kernels, run.converged, strict=True):
        yield name_of(kernel)
        yield from (f"  line {d.line}: {d.choice}" for d in made.divergences)
        if made.warp_branches:
            yield f"  warps may differ at {', '.join(sorted(made.warp_branches))}"
        yield from (f"  {line}" for line in blocks(made.flow))
        yield from (f"  note: {note}" for note in made.notes)


def sliced(run: Run) -> Lines:
    for number, step in enumerate(run.steps):
        if number:
            yield ""
        for slicing, pair in zip(run.slicings, step.candidates, strict=True):
            yield f"slicing {slicing.choice}"
            for side in pair:
                most = slicing.thresholds[side.kernels[0]] if side.states is None else None
                limit = "whole blocks" if most is None else f"at most {most} cycles"
                yield f"  {side.label}: {'merged already' if side.states is not None else limit}"
                if side.states is None:
                    yield from (f"    {line}" for line in blocks(side.flow, cycles(side)))


def cycles(side: MergeInput) -> dict[str, str]:
    found = {n: sum(map(side.cycles, (*b.code, *terminator(b.end)))) for n, b in side.flow.blocks.items()}
    return {name: f" {length} cycles" for name, length in found.items() if length}


def merged(run: Run) -> Lines:
    found = run.merged
    dummies = sum(map(is_dummy, found.blocks.values()))
    yield f"{len(found.blocks)} blocks, {dummies} of them dummy blocks"
    letters = [kernel_letter(k) for k in run.shaped.kernels]
    for name, block in found.flow.blocks.items():
        what = found.blocks[name]
        yield f"{name}: {state(what, letters)}{' (dummy block)' if is_dummy(what) else ''}".rstrip(": ")
        for letter, part in zip(letters, what.parts, strict=True):
            yield from (f"  {letter}  {line}" for line in statements(part))
        if len(what.sync_groups) > 1 or any(len(group) > 1 for group in what.sync_groups):
            order = (
                " and ".join(f"{letters[k]} {str(what.parts[k][i]).strip()}" for k, i in t) for t in what.sync_groups
            )
            yield f"  in this order: {', '.join(order)}"
        yield from (f"  {line}" for line in inside_region(block))
        yield f"  {ending(block.end)}"
    yield from (f"note: {note}" for note in run.as_published.notes[1:] if run.published)


def inside_region(block: Block) -> Lines:
    return region(block.region) if block.region else iter(())


def kernel_letter(kernel: Kernel) -> str:
    return f"{kernel.letter}{kernel.copy or ''}"


def state(block: MergedBlock, letters: Sequence[str]) -> str:
    """Where the kernels stand; pieces that were joined one after the other."""
    return "; then ".join(_state(found, letters) for found in block.states)


def _state(found: ProductState, letters: Sequence[str]) -> str:
    return ", ".join(
        f"{letters[k]} {'has ended' if at == EXIT else f'at {at}' if k in found.runs else f'waits at {at}'}"
        for k, at in sorted(found.stands.items())
    )


def scheduled(run: Run) -> Lines:
    letters = [kernel_letter(k) for k in run.shaped.kernels]
    for name, block in run.scheduled.blocks.items():
        if not block.code:
            continue
        yield f"{name}:"
        for code in block.code:
            yield from (
                f"  {line}" for line in statements([f"{owner(code, run.merged.blocks[name], letters)}  {code}"])
            )


def owner(code: Code, block: MergedBlock, letters: Sequence[str]) -> str:
    return next(letter for letter, part in zip(letters, block.parts, strict=True) if code in part)


def reconverged(run: Run) -> Lines:
    yield from blocks(run.final)


def emitted(run: Run) -> Lines:
    yield from run.woven.ptx.splitlines()


LISTINGS: Mapping[str, Callable[[Run], Lines]] = {
    "link": linked,
    "shape": shaped,
    "meld": simplified,
    "simplify": simplified,
    "converge": converged,
    "slice": sliced,
    "merge": merged,
    "schedule": scheduled,
    "reconverge": reconverged,
    "emit": emitted,
}
