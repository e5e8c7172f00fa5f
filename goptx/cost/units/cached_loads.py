"""Loads of data that the caches of an SM have, as far as the code of a kernel shows it.

Requires: a flow without regions. Ensures: such are loads from variables of the module, which are small tables; loads
at an address that neither the CTA nor loaded data decide, for every CTA loads the same; and loads of an array from
which others of the same thread load at a shifted place, so that other threads load the same data (stencils). Of these,
one counts as a load from memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from functools import lru_cache
from typing import NamedTuple

from goptx.analysis.cfg import Flow
from goptx.analysis.early_ends import by_cta
from goptx.analysis.values.address_sums import Product, Terms, address_sums, difference, is_uniform
from goptx.memo import Same
from goptx.ptx.ir import Address, Instruction, Sum
from goptx.ptx.opcodes import facts_of

WARP = 32  # threads
SPACES = ("", "global")

Place = tuple[str, int]  # a block, and the number of an instruction in it


class _Load(NamedTuple):
    """varying: the terms of its address in which threads or iterations differ."""

    place: Place
    address: Terms
    varying: frozenset[tuple[Product, int]]


def cached_loads(flow: Flow) -> frozenset[Place]:
    """The loads whose data the caches have."""
    of, decided = _addresses(Same(flow)), by_cta(flow)
    found: set[Place] = set()
    counted: dict[frozenset[tuple[Product, int]], list[_Load]] = {}
    for place, instruction in _loads(flow):
        address = of(instruction)
        if address is None:
            continue
        load = _Load(place, address, frozenset(_varying(address)))
        others = counted.setdefault(load.varying, [])
        if _is_table(address) or _is_common(instruction, decided) or any(_is_beside(load, other) for other in others):
            found.add(place)
        else:
            others.append(load)
    return frozenset(found)


def lines_of_tables(flow: Flow) -> frozenset[int]:
    """The lines of loads from variables of the module."""
    of = _addresses(Same(flow))
    return frozenset(i.line for _, i in _loads(flow) if (address := of(i)) is not None and _is_table(address))


@lru_cache(maxsize=2)
def _addresses(flow: Same[Flow]) -> Callable[[Instruction], Terms | None]:
    """As `address_sums`, once for all that is asked of a flow in a row."""
    return address_sums(flow.held)


def _loads(flow: Flow) -> Iterator[tuple[Place, Instruction]]:
    for name in flow.reverse_postorder():
        for number, instruction in enumerate(flow.blocks[name].instructions()):
            facts = facts_of(instruction.opcode)
            if facts.only_loads_element and facts.space in SPACES:
                yield (name, number), instruction


def _is_table(address: Terms) -> bool:
    """Whether it is within a variable of the module: its name is neither a register nor a parameter."""
    return any(len(p) == 1 and not p[0].startswith(("%", "parameter ")) for p in address)


def _is_common(instruction: Instruction, decided: Set[str]) -> bool:
    """Whether neither the CTA nor loaded data decide the address."""
    address = instruction.operands[1]
    parts = address.parts if isinstance(address, Address) else (address,)
    return not any(str(part.base if isinstance(part, Sum) else part) in decided for part in parts)


def _varying(address: Terms) -> Iterator[tuple[Product, int]]:
    return ((product, count) for product, count in address.items() if not is_uniform(product))


def _is_beside(load: _Load, other: _Load) -> bool:
    """Whether the data of a load are those of the other for other threads nearby: they are whole elements away, within
    what the lanes of a warp load, or whole rows, where a row is by how much the address of threads varies."""
    if not load.varying:
        return False
    shift = difference(load.address, other.address)
    distance, stride = shift.get((), 0), min(abs(count) for _, count in load.varying)
    rows = all(any(_are_rows(p, n, *row) for row in load.varying) for p, n in shift.items() if p)
    return rows and abs(distance) < WARP * stride and not distance % stride


def _are_rows(product: Product, count: int, row: Product, each: int) -> bool:
    return set(product) <= set(row) and not count % each
