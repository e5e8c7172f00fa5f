"""Orders and dominators of small graphs: tables of successors and predecessors, without a graph to be made for them.

A kernel has a few dozen blocks, and weaving asks for dominators of hundreds of flows. There, making a `DiGraph` takes
longer than the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence


def reverse_postorder(root: str, successors: Callable[[str], Iterable[str]]) -> tuple[str, ...]:
    """The nodes that can be reached from the root, each after its predecessors except over back edges."""
    order, seen = [], {root}
    path = [(root, iter(successors(root)))]
    while path:
        name, left = path[-1]
        for target in left:
            if target not in seen:
                seen.add(target)
                path.append((target, iter(successors(target))))
                break
        else:
            order.append(name)
            path.pop()
    order.reverse()
    return tuple(order)


def immediate_dominators(order: Sequence[str], above: Mapping[str, Iterable[str]]) -> dict[str, str | None]:
    """The immediate dominator of each node; None for the first, which is the root. `order` is a reverse postorder,
    `above` the predecessors. Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm (2001)."""
    rank = {name: i for i, name in enumerate(order)}
    sources = [[rank[p] for p in above[name] if p in rank] for name in order]
    found = [0] * len(order)  # by rank; what has no dominator yet is not below its own rank
    known = [True, *[False] * (len(order) - 1)]
    changed = True
    while changed:
        changed = False
        for node in range(1, len(order)):
            dominator = _common([source for source in sources[node] if known[source]], found)
            if not known[node] or found[node] != dominator:
                found[node], known[node], changed = dominator, True, True
    return {name: order[found[i]] if i else None for i, name in enumerate(order)}


def _common(nodes: Sequence[int], dominators: Sequence[int]) -> int:
    """The node furthest from the root that is, or dominates, each of these nodes."""
    first, *others = nodes
    for other in others:
        while first != other:
            if first > other:
                first = dominators[first]
            else:
                other = dominators[other]
    return first


def frontiers(dominators: Mapping[str, str | None], above: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """The dominance frontier of each node: the nodes where what it dominates meets other paths."""
    found: dict[str, set[str]] = {name: set() for name in dominators}
    for name, dominator in dominators.items():
        sources = [p for p in above[name] if p in dominators]
        if len(sources) > 1 or dominator is None:  # paths meet; an edge to the root also leads back to it
            for source in sources:
                runner: str | None = source
                while runner is not None and runner != dominator:
                    found[runner].add(name)
                    runner = dominators[runner]
    return found
