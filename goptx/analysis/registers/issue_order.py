"""How many words are live at most while the operations of a block run, in three orders that the assembler may choose.

Requires: operations of straight code, the words live before and after. *Thrifty*: each operation comes right before
what needs it, or as it is written; the better of the two. What is computed at once of words that are live anyway is
computed again for each use, if that saves many words: so a hash function computes `word ^ constant` in each round. But
loads from far memory under a predicate come first if they are many: the assembler was not seen to move them down.
*Loads first*: the same, but all loads begin before all else, and wait together. *Eager*: what has the longest way to
the end of the block comes first, as soon as its inputs are there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import accumulate

from goptx.analysis.registers.machine_operations import FAR, NEAR, Operation, Words

FEW = 25  # live words up to which no further order is looked for: an SM is full
MANY = 28  # live words up to which it does not matter whether loads under a predicate are moved down
SAVED = 1 / 8  # of the live words, the least share for which words are computed again

Value = int  # of one definition: a word of before has its own number, a later definition a negative one
Values = list[tuple[tuple[Value, ...], tuple[Value, ...]]]  # of each operation: what it defines, and what it uses


class IssueOrders:
    """The orders of a block. The number of an order is the most words that are live at once: `as_written`, `thrifty`
    (at most that, without many loads under predicates), `loads_first` and `eager`, each found when it is asked for."""

    def __init__(self, block: Sequence[Operation], before: Collection[int], after: Collection[int]) -> None:
        self.block = block
        self._values, self._left = _values(block, before, after)
        self._live = len(before)
        self.as_written = self._peak(range(len(block)))

    @cached_property
    def has_guarded_loads(self) -> bool:
        return any(map(_is_guarded_load, self.block))

    @property
    def thrifty(self) -> int:
        late = _late(self.block, self._values, self._needs)
        orders: list[Sequence[int]] = [range(len(self.block)), late]
        found = min(self.as_written, self._peak(late))
        if found > FEW:
            orders.append(_completing(self._values, self._needs, late, self._left))
            found = min(found, self._peak(orders[-1]))
        if found > MANY:
            again = max(min(_peak_again(self.block, self._values, order, self._left) for order in orders), MANY)
            found = again if again <= found * (1 - SAVED) else found
        if self.has_guarded_loads and (least := self._guarded_loads_first()) > MANY:
            return max(found, least)
        return found

    def _guarded_loads_first(self) -> int:
        """With the loads from far memory under a predicate, and what they need, before all else."""
        late = _late(self.block, self._values, self._needs, _is_guarded_load)
        first = _late(self.block, self._values, self._needs, _is_guarded_load, ())
        rest = sorted({*range(len(self.block))}.difference(first))
        return min(self._peak(late), self._peak([*first, *rest]))

    @property
    def loads_first(self) -> int:
        return self._peak(_late(self.block, self._values, self._needs, is_load))

    @property
    def eager(self) -> int:
        return self._peak(_eager(self.block, self._needs))

    @cached_property
    def _needs(self) -> list[list[int]]:
        return _precedence(self.block, self._values)

    def _peak(self, order: Collection[int]) -> int:
        return _peak(self._values, order, self._live, self._left)


def unrolled(block: Sequence[Operation], before: Collection[int], after: Collection[int], times: int) -> int:
    """The most words live at once in a loop of one block, of which several iterations begin their loads together."""
    copies = list(block) * times
    values, left = _values(copies, before, after)
    order = _late(copies, values, _precedence(copies, values), is_load)
    return _peak(values, order, len(before), left)


def is_load(operation: Operation) -> bool:
    """Whether it loads from memory other than parameters and constants, or waits as long."""
    return operation.cycles >= NEAR


def _is_guarded_load(operation: Operation) -> bool:
    """Whether it loads from far memory under a predicate: the assembler does not move it down, to what needs it."""
    return operation.guarded and operation.cycles >= FAR and not operation.effective


def _values(
    block: Sequence[Operation], before: Collection[int], after: Words | Collection[int]
) -> tuple[Values, dict[Value, int]]:
    """The values of each operation, and how often each value is used; what is live after the block counts once."""
    now = {word: word for word in before}
    values: Values = []
    left: dict[Value, int] = {}
    fresh = 0
    for operation in block:
        uses = tuple(dict.fromkeys(now[word] for word in operation.uses if word in now))
        defines: list[Value] = []
        for word in operation.defines:
            fresh -= 1
            now[word] = fresh
            defines.append(fresh)
        for value in uses:
            left[value] = left.get(value, 0) + 1
        values.append((tuple(defines), uses))
    for word in after:
        value = now.get(word, word)
        left[value] = left.get(value, 0) + 1
    return values, left


def _peak(values: Values, order: Collection[int], live: int, uses: dict[Value, int]) -> int:
    left = dict(uses)
    most = live
    for i in order:
        defines, used = values[i]
        for value in used:
            left[value] -= 1
            live -= not left[value]
        if defines:
            live += len(defines)
            if live > most:
                most = live
            for value in defines:
                live -= not left.get(value)
    return most


def _peak_again(block: Sequence[Operation], values: Values, order: Sequence[int], uses: Mapping[Value, int]) -> int:
    """The most words live at once in this order, if words are computed again for each use where what they are computed
    of is live then."""
    used: dict[Value, list[int]] = {}
    for at, i in enumerate(order):
        for value in values[i][1]:
            used.setdefault(value, []).append(at)
    for value, times in uses.items():
        if times > len(used.get(value, ())):
            used.setdefault(value, []).append(len(order))  # it is live after the block
    gone: dict[Value, list[tuple[int, int]]] = {}
    made = {value for own in values for value in own[0]}
    change = [sum(value not in made for value in used), *[0] * (len(order) + 1)]  # of the live words, after each place
    for value, places in used.items():
        if value not in made:
            change[places[-1] + 1] -= 1

    def is_there(value: Value, at: int) -> bool:
        places = used.get(value, [])
        return bool(places) and places[-1] >= at and not any(a < at < b for a, b in gone.get(value, ()))

    for at, i in enumerate(order):
        defines, sources = values[i]
        for value in defines:
            before = at
            for place in used.get(value, (at + 1,)):
                if place > before + 1 and block[i].cheap and all(is_there(source, place) for source in sources):
                    gone.setdefault(value, []).append((before, place))
                    before = place - 1  # then it is computed again
                change[before + 1] += 1
                change[place + 1] -= 1
                before = place
    return max(accumulate(change))


def _precedence(block: Sequence[Operation], values: Values) -> list[list[int]]:
    """For each operation those that come before it: what it needs, and accesses to memory that keep their order."""
    makers: dict[Value, int] = {}
    needs: list[list[int]] = []
    stores: dict[str, int] = {}
    loads: dict[str, list[int]] = {}
    fence: list[int] = []
    for i, (operation, (defines, uses)) in enumerate(zip(block, values, strict=True)):
        own = {makers[value] for value in uses if value in makers}
        makers.update(dict.fromkeys(defines, i))
        if operation.access:
            own.update(fence)
        if operation.access in ("f", "c"):
            own.update(stores.values(), *loads.values())
            fence, stores, loads = [i], {}, {}
        elif operation.access:
            space = operation.space
            own.update([stores[space]] if space in stores else ())
            if operation.access == "l":
                loads.setdefault(space, []).append(i)
            else:
                own.update(loads.pop(space, ()))
                stores[space] = i
        needs.append(sorted(own))
    return needs


def _late(
    block: Sequence[Operation],
    values: Values,
    needs: Sequence[Sequence[int]],
    begins: Callable[[Operation], bool] | None = None,
    roots: Sequence[int] | None = None,
) -> list[int]:
    """Depth first from the operations for which `begins` holds, and then from the `roots`: by default those that
    nothing in the block needs, or that have an effect, in the given order."""
    order: list[int] = []
    seen = [False] * len(block)
    if roots is None:
        needed = {n for own in needs for n in own}
        roots = [i for i, o in enumerate(block) if o.effective or i not in needed or not values[i][0]]
    for root in (*(i for i, o in enumerate(block) if begins and begins(o)), *roots):
        waiting = [] if seen[root] else [(root, iter(needs[root]))]
        seen[root] = True
        while waiting:
            i, left = waiting[-1]
            following = next((n for n in left if not seen[n]), None)
            if following is None:
                order.append(i)
                waiting.pop()
            else:
                seen[following] = True
                waiting.append((following, iter(needs[following])))
    return order


def _completing(
    values: Values, needs: Sequence[Sequence[int]], order: Sequence[int], uses: Mapping[Value, int]
) -> list[int]:
    """The operations in this order, but for those that leave no more words live than there were before: each runs as
    soon as what it needs is there. So values that several results are computed from are needed for a short time."""
    left = dict(uses)
    missing = [len(own) for own in needs]
    followers: list[list[int]] = [[] for _ in needs]
    users: dict[Value, list[int]] = {}
    for i, own in enumerate(needs):
        for n in own:
            followers[n].append(i)
        for value in values[i][1]:
            users.setdefault(value, []).append(i)
    found: list[int] = []
    done = [False] * len(order)

    def grows(i: int) -> bool:
        defines, used = values[i]
        return sum(1 for v in defines if left.get(v)) > sum(1 for v in used if left[v] == 1)

    for first in order:
        waiting = [first]
        while waiting:
            i = waiting.pop()
            if done[i] or (i != first and (missing[i] or grows(i))):
                continue
            done[i] = True
            found.append(i)
            for following in followers[i]:
                missing[following] -= 1
            near = list(followers[i])
            for value in values[i][1]:
                left[value] -= 1
                near += users[value] if left[value] == 1 else ()
            waiting += sorted({n for n in near if not done[n]}, reverse=True)
    return found


def _eager(block: Sequence[Operation], needs: Sequence[Sequence[int]]) -> list[int]:
    """One operation in each cycle: of those whose inputs are there, the one with the most cycles to the end."""
    followers: list[list[int]] = [[] for _ in block]
    paths = [operation.cycles for operation in block]
    for i in range(len(block) - 1, -1, -1):
        for n in needs[i]:
            followers[n].append(i)
            paths[n] = max(paths[n], paths[i] + block[n].cycles)
    missing = [len(own) for own in needs]
    there = [0] * len(block)  # the cycle in which its inputs are there
    coming = [(0, i) for i, count in enumerate(missing) if not count]
    ready: list[tuple[int, int]] = []
    order: list[int] = []
    cycle = 0
    while coming or ready:
        if not ready:
            cycle = max(cycle, coming[0][0])
        while coming and coming[0][0] <= cycle:
            _, i = heappop(coming)
            heappush(ready, (-paths[i], i))
        _, i = heappop(ready)
        order.append(i)
        for following in followers[i]:
            missing[following] -= 1
            there[following] = max(there[following], cycle + block[i].cycles)
            if not missing[following]:
                heappush(coming, (there[following], following))
        cycle += 1
    return order
