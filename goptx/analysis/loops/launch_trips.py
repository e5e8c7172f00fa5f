"""How often the loops of a kernel run in a launch whose shape and scalar arguments are known.

Requires: a flow without regions. A loop is counted if it is left by comparing integers that every thread computes from
its number, the sizes of the launch and arguments, in each iteration alike. Its counters are computed for the
first iterations; where what is compared changes evenly, the iteration in which the loop ends follows. Threads differ:
the count is the mean of a few warps in ten CTAs spread along each axis of the grid, each with the iterations of its
first or last lane, whichever has more, leaving out warps that do not come to the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise, product
from statistics import mean
from typing import NamedTuple

from goptx.analysis.cfg import Code, Flow, left_at, loops
from goptx.analysis.dataflow import read, written
from goptx.analysis.terminators import Branch
from goptx.analysis.values.thread_values import Elements, Lookup, Place, ThreadValues, compared, relation_of
from goptx.launch.shape import Shape
from goptx.ptx.ir import Instruction
from goptx.ptx.opcodes import facts_of

WARP = 32  # threads
EIGHTHS = 8  # of the grid, along each axis
STEPS, IRRATIONAL = (1, 3, 5), 0.4142  # how they are passed along the axes, and the place in each
SIMULATED = 64  # iterations of a loop whose counters do not change evenly
EVEN = 4  # iterations after which a change counts as even
MOST_TRIPS = 1 << 40


def launch_trips(
    flow: Flow, shape: Shape, arguments: Mapping[str, int], arrays: Mapping[str, Elements] | None = None
) -> dict[str, float]:
    """The counts of the loops that can be counted, by the names of their heads; 0 for one that no thread comes to.
    `arguments` are those of integer parameters, by the parameters' names, and `arrays` what is known of the elements of
    integer arrays."""
    bodies = loops(flow)
    if not bodies or None in (*shape.axes("grid"), *shape.axes("block")):
        return {}
    warps = [[ThreadValues(flow, lane, arguments, arrays) for lane in warp] for warp in _sampled(shape)]
    followed = {header: _followed(flow, header, body) for header, body in bodies.items()}
    for thread in chain.from_iterable(warps):
        thread.trips = partial(_trips_of, followed, thread)
    found = {}
    for header, loop in followed.items():
        if loop is not None and (count := _mean(loop, warps)) is not None:
            found[header] = count
    return found


def _trips_of(followed: Mapping[str, _Loop | None], thread: ThreadValues, header: str) -> float | None:
    """How often a thread that comes to a loop runs it."""
    loop = followed[header]
    return loop.count(thread) if loop else None


def _sampled(shape: Shape) -> Iterator[list[dict[str, int]]]:
    """The special registers of the first and the last lane of warps."""
    grid, block = shape.sizes("grid"), shape.sizes("block")
    threads = block[0] * block[1] * block[2]
    last = (threads - 1) // WARP
    for cta, warp in product(_spread(grid), dict.fromkeys((0, last // 2, last))):
        lanes = dict.fromkeys((warp * WARP, min(warp * WARP + WARP, threads) - 1))
        yield [_special(grid, block, cta, thread) for thread in lanes]


def _spread(grid: tuple[int, int, int]) -> Iterable[tuple[int, int, int]]:
    """The first and the last CTA, and others of which one lies in each eighth of the grid along each axis, at another
    place there: a multiple of a power of two along an axis may mean something to the kernel."""
    x, y, z = grid
    found = dict.fromkeys(((0, 0, 0), (x - 1, y - 1, z - 1)))
    for number in range(EIGHTHS):
        eighths = (number * step % EIGHTHS for step in STEPS)
        within = ((number * step + 1) * IRRATIONAL % 1 for step in STEPS)
        x, y, z = (int((e + w) / EIGHTHS * size) for e, w, size in zip(eighths, within, grid, strict=True))
        found[x, y, z] = None
    return found


def _special(
    grid: tuple[int, int, int], block: tuple[int, int, int], cta: tuple[int, int, int], thread: int
) -> dict[str, int]:
    found = {"%laneid": thread % WARP}
    x, y, _ = block
    for name, sizes, own in (("ctaid", grid, cta), ("tid", block, (thread % x, thread // x % y, thread // (x * y)))):
        for axis, number, size in zip("xyz", own, sizes, strict=True):
            found |= {f"%{name}.{axis}": number, f"%n{name}.{axis}": size}
    return found


def _mean(loop: _Loop, warps: Sequence[Sequence[ThreadValues]]) -> float | None:
    """The mean of the warps that come to the loop; None if it is unknown for one of them."""
    counts: list[float] = []
    for warp in warps:
        own = [loop.count(thread) for thread in warp if loop.entered(thread)]
        known = [count for count in own if count is not None]
        if len(known) < len(own):
            return None
        counts += [max(known)] if known else []
    return min(mean(counts), MOST_TRIPS) if counts else 0.0


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop that can be followed. guards: the branches before it, and whether they lead to it where they are taken.
    exits: the blocks that may leave it, and whether they do where their branch is taken. steps: the instructions that
    decide about that, in the order in which each iteration comes to them, by their blocks."""

    flow: Flow
    header: str
    body: frozenset[str]
    guards: Sequence[tuple[str, bool]]
    exits: Mapping[str, bool]
    steps: Mapping[str, Sequence[int]]

    def entered(self, thread: ThreadValues) -> bool:
        """Whether a thread comes to the loop, if it goes there wherever that depends on what it loads."""
        return all(thread.takes(name) in (None, leads) for name, leads in self.guards)

    def count(self, thread: ThreadValues) -> float | None:
        """How often the loop runs for a thread that comes to it."""
        state: dict[str, int | None] = {}

        def value(register: str) -> int | None:
            if register not in state:
                state[register] = thread.before(register, (self.header, 0), self.body)
            return state[register]

        before: list[dict[str, _Sides | None]] = []
        for iteration in range(SIMULATED):
            sides: dict[str, _Sides | None] = {}
            for name, numbers in self.steps.items():
                for number in numbers:
                    code = self.flow.blocks[name].code[number]
                    (register,) = written(code)
                    sides[register] = _sides(code, value)
                    state[register] = thread.result(code, register, value)
                if name in self.exits:
                    guard = _branch(self.flow, name).guard
                    predicate = value(guard.predicate.text)
                    if predicate is None:
                        return None
                    if (bool(predicate) != guard.negated) == self.exits[name]:
                        return self._times(name, iteration)
            before.append(sides)
            if len(before) == EVEN and (even := self._even(before)) is not None:
                return even
        return None

    def _times(self, leaving: str, iterations: int) -> float:
        """A loop that is left at its head has not run once more."""
        at_head = leaving == self.header and len(self.body) > 1
        return float(iterations if at_head else iterations + 1)

    def _even(self, before: Sequence[Mapping[str, _Sides | None]]) -> float | None:
        """The count, if what each exit compares changes by the same in each iteration."""
        found: list[tuple[int, int, str]] = []
        for position, (name, taken) in enumerate(self.exits.items()):
            guard = _branch(self.flow, name).guard
            own = [sides.get(guard.predicate.text) for sides in before]
            distances = [sides.distance for sides in own if sides is not None]
            changes = {after - before_it for before_it, after in pairwise(distances)}
            if len(distances) < len(before) or len(changes) != 1 or own[0] is None:
                return None
            iteration = _first(own[0].relation, taken != guard.negated, distances[0], changes.pop())
            if iteration is not None:
                found.append((iteration, position, name))
        if not found:
            return None
        iteration, _, name = min(found)
        return self._times(name, iteration)


class _Sides(NamedTuple):
    """What a comparison compares, the first number less the second, and what it asks of that and 0."""

    distance: int
    relation: Callable[[int, int], bool]


def _sides(code: Code, value: Lookup) -> _Sides | None:
    if not isinstance(code, Instruction) or not facts_of(code.opcode).compares:
        return None
    relation, numbers = relation_of(facts_of(code.opcode)), compared(code, facts_of(code.opcode), value)
    return _Sides(numbers[0] - numbers[1], relation) if relation and numbers else None


def _first(relation: Callable[[int, int], bool], wanted: bool, distance: int, change: int) -> int | None:
    """The first iteration in which the relation of the distance and 0 is as wanted; None if there is none."""
    if not change:
        return None
    middle = -distance // change  # where the distance is 0, or about to pass it
    return next((i for i in (middle, middle + 1) if i >= 0 and relation(distance + change * i, 0) == wanted), None)


def _branch(flow: Flow, name: str) -> Branch:
    end = flow.blocks[name].end
    assert isinstance(end, Branch)
    return end


def _followed(flow: Flow, header: str, body: frozenset[str]) -> _Loop | None:
    """None where something besides numbers decides how long the loop runs, or does so in some iterations only."""
    bodies = loops(flow)
    latches = [name for name in flow.predecessors()[header] if name in body]
    inner = {name for other in bodies.values() if other < body for name in other}
    always = [n for n in flow.reverse_postorder() if n in body - inner and all(flow.dominates(n, x) for x in latches)]
    exits = {}
    for name in left_at(flow, body):
        end = flow.blocks[name].end
        if name not in always or not isinstance(end, Branch) or end.others:
            return None
        exits[name] = end.taken not in body
    steps = _deciding(flow, body, [_branch(flow, name).guard.predicate.text for name in exits])
    if steps is None or not set(steps) <= set(always):
        return None
    order = {name: sorted(steps.get(name, ())) for name in always if name in steps or name in exits}
    ordered = {name: exits[name] for name in order if name in exits}
    return _Loop(flow, header, body, tuple(_guards(flow, header)), ordered, order) if exits else None


def _deciding(flow: Flow, body: Collection[str], predicates: Sequence[str]) -> dict[str, set[int]] | None:
    """The instructions of a loop that give the predicates. None where a register is written by several, or under a
    guard."""
    made: dict[str, list[Place]] = {}
    for name in body:
        for i, code in enumerate(flow.blocks[name].code):
            for register in written(code):
                made.setdefault(register, []).append((name, i))
    found: dict[str, set[int]] = {}
    waiting, seen = list(predicates), set[str]()
    while waiting:
        register = waiting.pop()
        if register in seen or register not in made:
            continue
        seen.add(register)
        ((name, i), *others) = made[register]
        code = flow.blocks[name].code[i]
        if others or not isinstance(code, Instruction) or code.guard or len(written(code)) > 1:
            return None
        found.setdefault(name, set()).add(i)
        waiting += read(code)
    return found


def _guards(flow: Flow, header: str) -> Iterator[tuple[str, bool]]:
    """The branches above a loop of which only one side leads to it, and whether that is the one that is taken."""
    dominators = flow.dominators()
    below, name = header, dominators[header]
    while name is not None and name != below:
        end = flow.blocks[name].end
        if isinstance(end, Branch) and not end.others:
            taken, fallen = (_leads(flow, target, below, name) for target in end.successors())
            if taken != fallen:
                yield name, taken
        below, name = name, dominators[name]


def _leads(flow: Flow, source: str, target: str, without: str) -> bool:
    waiting, seen = [source], {without}
    while waiting:
        name = waiting.pop()
        if name == target:
            return True
        if name not in seen:
            seen.add(name)
            waiting += flow.blocks[name].end.successors()
    return False
