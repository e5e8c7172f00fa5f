"""Where threads of a kernel wait for each other, and what they wait for.

A *plain* barrier is one at which all threads of the CTA wait. A wait of *another kind* is a barrier with a count, an
mbarrier, or a loop that ends when another thread has written something; what may end it, its releases, are arrivals,
copies that complete a transaction and, for loops that read memory, stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goptx.proof.code.kernel_code import END, NotProved, Program, Step
from goptx.ptx.opcodes import Scope


def is_barrier(step: Step) -> bool:
    """Whether threads of the CTA, or of more, wait there or arrive."""
    return step.facts.row.scope >= Scope.CTA


def is_plain(step: Step) -> bool:
    """Whether all threads of the CTA come to the barrier and wait; or all of its cluster, where they arrive, too."""
    return waits_for_all(step) or step.facts.row.scope == Scope.CLUSTER


def waits_for_all(step: Step) -> bool:
    """Whether all threads of the CTA come to the barrier and wait."""
    count = len(step.sources) - step.facts.reduces
    return step.facts.row.scope == Scope.CTA and "arrive" not in step.facts.modifiers and count == 1


def is_plain_barrier(step: Step) -> bool:
    """Whether it is a barrier, and a plain one."""
    return is_barrier(step) and is_plain(step)


def is_counted(step: Step) -> bool:
    """Whether it is a barrier of some threads of the CTA."""
    return step.facts.row.scope == Scope.CTA and not is_plain(step)


def is_aligned(step: Step) -> bool:
    """Whether it is a barrier which the threads of a warp execute together."""
    return is_barrier(step) and step.facts.aligned


def id_position(step: Step) -> int | None:
    """The position of a barrier's number among its sources."""
    return step.facts.barrier_id - len(step.writes) if step.facts.row.scope == Scope.CTA else None


@dataclass(frozen=True, slots=True)
class Waits:
    """By the numbers of a kernel's steps: where a thread waits other than at a plain barrier, and what may end such
    a wait. `cluster` is a step that concerns threads of other CTAs."""

    held: frozenset[int] = frozenset()
    releases: frozenset[int] = frozenset()
    cluster: Step | None = None


def waits_of(program: Program) -> Waits:
    """Raises `NotProved` where a loop may wait for other CTAs, which need not run at the same time."""
    for step in program.steps:
        if step.facts.exclusive:
            raise NotProved(step.line, f"`{step.statement}` concerns all kernels of a CTA")
    barriers = [s for s in program.steps if is_barrier(s) and not is_plain(s)]
    held = {s.number for s in barriers if s.facts.row.blocking}
    inner = {program.natural_loop(edge) & program.loops[edge[1]] for edge in program.back_edges}
    asking = [s for loop in {*program.loops.values(), *inner} for s in _waited_for(program, loop)]
    for step in asking:
        if not (step.facts.acts_on_mbarrier or step.facts.space == "shared" or "cta" in step.facts.modifiers):
            raise NotProved(step.line, f"a loop that waits for `{step.statement}` may wait for another CTA")
    held.update(s.number for s in asking)
    held.update(s.number for s in program.steps if s.facts.acts_on_mbarrier and s.facts.row.blocking)
    cluster = next((s for s in program.steps if _is_of_cluster(s)), None)
    if not held:
        return Waits(cluster=cluster)
    stores = any(not s.facts.acts_on_mbarrier for s in asking)
    releases = {s.number for s in barriers}
    releases.update(s.number for s in program.steps if s.facts.releases and not s.facts.controls_grids)
    if stores:
        releases.update(s.number for s in program.steps if "s" in s.facts.row.access and s.facts.space != "local")
    return Waits(frozenset(held), frozenset(releases), cluster)


def _is_of_cluster(step: Step) -> bool:
    """Whether it may concern another CTA of the cluster."""
    names = (n for s in step.sources for n in s.names)
    words = step.opcode.split(".")
    return (
        step.facts.row.scope == Scope.CLUSTER
        or step.facts.asks_cluster
        or any(w.startswith("multicast") or w == "cluster" for w in words)
        or any(n.startswith("%cluster_cta") for n in names)
    )


def _waited_for(program: Program, loop: frozenset[int]) -> list[Step]:
    """The reads by which a loop waits for other threads."""
    steps = [program.steps[n] for start in loop for n in program.blocks[start]]
    asking = [s for s in steps if s.facts.is_strong_read or s.facts.bypasses_l1]
    return asking if asking and _decides(program, asking, steps, loop) else []


def _decides(program: Program, asking: Sequence[Step], steps: Sequence[Step], loop: frozenset[int]) -> bool:
    """Whether the end of a loop may depend on what these steps read."""
    names = {w for s in asking for w in s.writes}
    in_memory = False
    while True:
        before = len(names), in_memory
        for step in steps:
            if not program.reads(step).isdisjoint(names) or (in_memory and step.facts.loads):
                names.update(step.writes)
                in_memory |= "s" in step.facts.row.access
                if step.is_branch:
                    region = program.region(program.block_of[step.number]) & loop
                    inside = [program.steps[n] for start in region for n in program.blocks[start]]
                    names.update(w for s in inside for w in s.writes)
                    in_memory |= any("s" in s.facts.row.access for s in inside)
        if before == (len(names), in_memory):
            break
    leaving = [
        s
        for s in steps
        if s.is_branch and any(t == END or program.block_of[t] not in loop for t in program.following(s))
    ]
    return any(not program.reads(s).isdisjoint(names) for s in leaving)
