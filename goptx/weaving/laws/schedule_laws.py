"""The laws of scheduled blocks, and of the kernel that is made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from goptx.analysis.cfg import Code, Flow
from goptx.analysis.dataflow import read, written
from goptx.ptx.ir import Instruction
from goptx.ptx.walk import statements_in
from goptx.results.fused_kernel import Woven
from goptx.weaving.emit.reconverge import RECONVERGE
from goptx.weaving.laws.flow_laws import Problem, Problems
from goptx.weaving.merging.merged_blocks import Merged, MergedBlock


def schedule_has_the_code(flow: Flow, merged: Merged) -> Problems:
    """A scheduled block has the code of the merged one; of several barriers that become one, one is left."""
    for name, block in merged.blocks.items():
        before, now = Counter(merged.flow.blocks[name].code), Counter(flow.blocks[name].code)
        joined = Counter(block.parts[k][i] for group in block.sync_groups if len(group) > 1 for k, i in group)
        for code in now - before:
            yield Problem(f"`{str(code).strip()}` is new", name)
        for code in before - now - joined:
            yield Problem(f"`{str(code).strip()}` is gone", name)


def reads_are_the_same(flow: Flow, merged: Merged) -> Problems:
    """Within a block each instruction reads the values that it read before, from registers of one kernel."""
    for name, block in merged.blocks.items():
        own = _own_registers(block)
        before = Counter(_reads([c for part in block.parts for c in part], own))
        for what in Counter(_reads(flow.blocks[name].code, own)) - before:
            yield Problem(f"`{str(what[0]).strip()}` reads other values", name)


def sync_groups_keep_their_order(flow: Flow, merged: Merged) -> Problems:
    """The code of sync groups stands in the order of synchronization."""
    for name, block in merged.blocks.items():
        order = [{block.parts[k][i] for k, i in group} for group in block.sync_groups]
        waiting = set().union(*order) if order else set()
        for code in (c for c in flow.blocks[name].code if c in waiting):
            while order and code not in order[0]:
                order.pop(0)
            if not order:
                yield Problem(f"`{str(code).strip()}` comes too late", name)
                break
            order[0].discard(code)


def only_reconvergence_is_new(flow: Flow, scheduled: Flow) -> Problems:
    """Nothing but `bar.warp.sync` at ends of blocks is added."""
    before = scheduled.without_empty()
    for name, block in flow.blocks.items():
        code = block.code[:-1] if block.code[-1:] == (RECONVERGE,) else block.code
        if before.blocks[name].code not in (code, block.code):
            yield Problem("other code has changed", name)


def instructions_have_origins(woven: Woven) -> Problems:
    """There is an origin, or None, for each instruction of the fused kernel."""
    count = sum(isinstance(s, Instruction) for s in statements_in(woven.module.entries[0].body or ()))
    if len(woven.origins) != count:
        yield Problem(f"{len(woven.origins)} origins of {count} instructions")


def _own_registers(block: MergedBlock) -> frozenset[str]:
    """The registers that one kernel alone uses."""
    used = [frozenset[str]().union(*(read(c) | written(c) for c in part)) for part in block.parts]
    times = Counter(register for registers in used for register in registers)
    return frozenset(register for register, n in times.items() if n == 1)


def _reads(code: Iterable[Code], registers: frozenset[str]) -> Iterator[tuple[Code, frozenset[tuple[str, int]]]]:
    """Each instruction, with how often each register that it reads was written before."""
    versions: Counter[str] = Counter()
    for item in code:
        yield item, frozenset((r, versions[r]) for r in read(item) & registers)
        versions.update(written(item) & registers)
