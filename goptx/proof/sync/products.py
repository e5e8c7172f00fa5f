"""Registers that products in progress read and write: `wgmma.mma_async` goes on with them while the thread goes on.

A term says what a register holds when the product has ended; so nobody may ask, or write another value, before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goptx.proof.code.kernel_code import END, NotProved, Program, Step


def check_products(fused: Program) -> None:
    """That no other instruction accesses the registers of a product, from where it begins to where its group and all
    others have ended. Raises `NotProved`."""
    for products, own in _with_common_registers([s for s in fused.steps if s.facts.multiplies_later]):
        for step in _in_progress(fused, products):
            for name in (*fused.reads(step), *step.writes):
                if name in own:
                    what = f"accesses `{name}` while the product in line {own[name].line} may be in progress"
                    raise NotProved(step.line, f"`{step.statement}` {what}")


def _with_common_registers(products: Sequence[Step]) -> list[tuple[list[Step], dict[str, Step]]]:
    """The products in sets of which no two have a register in common, with a product for each register."""
    found: list[tuple[list[Step], dict[str, Step]]] = []
    for product in products:
        own = dict.fromkeys(_registers(product), product)
        those = [product]
        for one in [one for one in found if not one[1].keys().isdisjoint(own)]:
            found.remove(one)
            those, own = one[0] + those, one[1] | own
        found.append((those, own))
    return found


def _registers(step: Step) -> Iterator[str]:
    """The accumulators, and the elements of a factor in registers; descriptors are read at once."""
    yield from step.writes
    yield from (name for source in step.sources if source.text.startswith("{{") for name in source.names)


def _in_progress(fused: Program, products: list[Step]) -> list[Step]:
    """The steps, except products and waits for them, to which a thread may come from a product without having
    committed it and then waited for all."""
    found = dict[int, Step]()
    seen = set[tuple[int, bool]]()
    waiting = [(target, False) for step in products for target in fused.following(step)]
    while waiting:
        number, committed = waiting.pop()
        if number == END or (number, committed) in seen:
            continue
        seen.add((number, committed))
        step = fused.steps[number]
        if step.facts.commits_products:
            committed |= not step.guard
        elif step.facts.waits_for_products:
            if committed and not step.guard and [s.text for s in step.sources] == ["0"]:
                continue
        elif not step.facts.multiplies_later:
            found[number] = step
        waiting += [(target, committed) for target in fused.following(step)]
    return [found[number] for number in sorted(found)]
