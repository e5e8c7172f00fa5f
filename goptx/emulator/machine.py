"""Runs a program one instruction at a time, for all lanes at the same place at once.

Lanes of a warp that diverge at a branch form separate groups and reconverge at the branch's immediate post-dominator.
Of the places with groups, the lowest runs first, so that others can catch up; loops that are known to wait for other
threads run last. No loop may starve other lanes: after a burst of steps the places of that burst rest until all others
have had a burst, too. Lanes stop at convergent instructions and barriers. When no lane can go on, or those that go on
change nothing any more, there are two cases: groups wait for a reconvergence that the language does not promise, and
are released; or it is a deadlock.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from goptx.emulator.calls import call, pass_arguments, pass_results
from goptx.emulator.deadlock import deadlock, divergence_fault
from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.asynchronous import Copies
from goptx.emulator.instructions.cta_barriers import Barriers
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.instructions.register_pool import RegisterPool
from goptx.emulator.instructions.special_registers import CLOCKS, OF_POSITION, numbers_of, special
from goptx.emulator.lane_groups import FULL, NONE, Groups, Tokens, joined, no_groups, pack, united
from goptx.emulator.lane_positions import Context, Place
from goptx.emulator.lanes import WARP, Frame, Lanes
from goptx.emulator.livelock import Livelock
from goptx.emulator.memory.address_spaces import FIRST, MAPPED, WRITABLE, Memory, Space
from goptx.emulator.program import (
    Barrier,
    Choose,
    Code,
    Done,
    Fork,
    Goto,
    Invoke,
    Operation,
    WarpSync,
)

if TYPE_CHECKING:
    from goptx.emulator.emulated_launch import Launch

SMS = 132  # the number that a kernel reads: that of an H200
BURST = 64  # steps, after which the places of these steps rest
CHECK_EVERY = 1024  # steps between livelock checks
WAITING_CHECK_EVERY = 64  # the same, in loops that wait
PATIENCE = 16  # steps in loops that wait, after which lanes that wait for a reconvergence are released
LONGEST = 1 << 14  # steps in any loop, after which they are released
DEPTH = 200  # calls within calls
COHORTS = 4  # groups of warps that run at different speeds, where the order is random


class Machine:
    """The CTAs numbered `ctas` of a launch, a range or a tuple. Public attributes are for operations."""

    SMS: int = SMS

    def __init__(self, launch: Launch, ctas: Sequence[int]) -> None:
        self.launch: Launch = launch
        self.strict = launch.strict
        self.grid: tuple[int, int, int] = launch.grid
        self.block: tuple[int, int, int] = launch.block
        self.dynamic_shared: int = launch.dynamic_shared
        threads = launch.threads
        self.warps_per_cta: int = -(-threads // WARP)
        self.warps: int = self.warps_per_cta * len(ctas)
        self.lanes: int = self.warps * WARP
        self._numbers = numbers = numbers_of(ctas, self.warps_per_cta, self.grid, self.block)
        self.every_lane: Array = numbers.lanes
        self.cta: Array = numbers.cta
        self.thread: Array = numbers.thread
        layout = launch.program.layout
        entry = launch.program.codes[launch.program.entry.name]
        shared = Space("shared", FIRST, layout.sizes["shared"], len(ctas), numbers.own, launch.shared_extents)
        shared.map(FIRST, layout.sizes["shared"], MAPPED | WRITABLE)
        local = Space("local", FIRST, entry.frame_bytes, self.lanes, self.every_lane)
        local.map(
            FIRST, entry.frame_bytes, MAPPED | WRITABLE, f"the stack of {entry.name}" if entry.frame_bytes else ""
        )
        shared.every_lane = local.every_lane = self.every_lane
        self.spaces: dict[str, Space] = {**launch.spaces, "shared": shared, "local": local}
        self.memory = Memory(list(self.spaces.values()))
        self.races = launch.races(self)
        self.traffic = launch.traffic
        self.pool = RegisterPool(self, launch.program.entry)
        self.copies = Copies(shared, np.zeros(self.lanes, np.int64), self.races)
        self.ticks: int = 0
        self._special: dict[str, Array] = {}
        self._cohort = np.zeros(self.warps, np.int64)
        if launch.seed:
            self._rng = np.random.default_rng(launch.seed)
            self._cohort = self._rng.integers(0, COHORTS, self.warps)
        self.places: list[Place] = []
        self.ready: dict[tuple[int, Place], list[Groups]] = {}
        self.tokens = Tokens()
        self.converging: dict[Place, tuple[Groups, Array]] = {}
        self.barriers = Barriers(self, len(ctas))
        self.steps = np.zeros(self.warps, np.int64)  # instructions of each warp, if their number is limited
        self.work = 0  # the same of all warps, where those of several that run together count once
        self._spun = 0  # consecutive steps with all lanes in loops that wait
        self._burst: set[tuple[int, Place]] = set()  # the places of this burst
        self._steps_left = BURST
        self._resting: set[tuple[int, Place]] = set()
        self._next_check = 0
        self._next_release = LONGEST
        self._waited: frozenset[int] = frozenset()  # the tokens with waiting lanes at the last release
        self._livelock = Livelock(self.spaces)
        self.alive = pack((self.thread < threads).reshape(-1, WARP))  # the threads that have not ended
        self.entry = Context(entry, self._frame(entry, 0))
        groups = Groups(np.arange(self.warps), self.alive.copy(), np.full(self.warps, NONE))
        self._arrive(self.place(self.entry, 0), groups)

    def special(self, name: str) -> Array:
        """The special register's value for all lanes, or 0-dimensional."""
        if name in CLOCKS:
            return special(self, name)
        known = self._numbers.special if name.startswith(OF_POSITION) else self._special
        if name not in known:
            known[name] = special(self, name)
        return known[name]

    def cta_of(self, warps: Array) -> Array:
        """The number of each warp's CTA among those of this machine."""
        return warps // self.warps_per_cta

    # the loop ----------------------------------------------------------------------------------------

    def run(self, look: bool = True) -> bool:
        """Runs until every thread has ended (True), or until no thread can go on or changes anything unless threads of
        another machine do (False). Without `look`, threads that change nothing go on. Raises `EmulationFault`."""
        self._livelock.begin()
        with np.errstate(all="ignore"):
            while np.count_nonzero(self.alive):
                place = self._choose(look)
                if place is not None:
                    self._step(place[1], joined(self.ready.pop(place)))
                elif len(free := self._free()):
                    self._release(free)
                    self._livelock.begin()
                else:
                    return False
        self.pool.check()
        return True

    def _choose(self, look: bool) -> tuple[int, Place] | None:
        """The place to run next; None if no lane can go on or nothing changes any more."""
        ready, resting = self.ready, self._resting
        fresh = [place for place in ready if place not in resting] if resting else list(ready)
        if not fresh:  # every place has had its turn
            self._resting.clear()
            if not self.ready or (look and self.ticks >= self._next_check and self._is_livelocked()):
                return None
            self._release_diverged()
            fresh = list(self.ready)
        if self.launch.seed:
            cohorts = sorted({cohort for cohort, _ in fresh})
            cohort = cohorts[self._rng.integers(len(cohorts))]
            fresh = [place for place in fresh if place[0] == cohort]
        best = min(fresh, key=_key) if len(fresh) > 1 else fresh[0]
        spins = best[1].spins and all(place.spins for _, place in self.ready)
        self._spun = self._spun + 1 if spins else 0
        if spins and self._spun % PATIENCE == 0:
            self._release(self._free())
        self._burst.add(best)
        self._steps_left -= 1
        if self._steps_left <= 0 or best[1].spins:
            self._resting |= self._burst
            self._burst.clear()
            self._steps_left = BURST + self._livelock.rounds
        return best

    def _is_livelocked(self) -> bool:
        self._next_check = self.ticks + (
            0 if self._spun > WAITING_CHECK_EVERY else WAITING_CHECK_EVERY if self._spun else CHECK_EVERY
        )
        return self._livelock.reached(self.ready, self._spun)

    def _release_diverged(self) -> None:
        """Releases lanes that have waited long to reconverge: the lanes that they wait for may wait for them."""
        if self.ticks >= self._next_release:
            self._next_release = self.ticks + LONGEST
            free = self._free()
            again = np.isin(free, list(self._waited))
            self._waited = frozenset(free.tolist())
            self._release(free[again])

    def _step(self, place: Place, groups: Groups) -> None:
        self.ticks += 1
        place.last = self.ticks
        if self.launch.seed and len(groups) > 1:
            groups = groups.chosen(self._rng.permutation(len(groups)))
        self.groups = groups
        lanes = self.lanes_in(place.context, groups)
        self._count_steps(place, groups)
        for operation in place.segment.operations:
            self.execute(operation, lanes, len(groups))
        match place.segment.ending:
            case Goto(target):
                self._arrive(self.place(place.context, target), groups)
            case Fork() as fork:
                self._fork(place, fork, groups, lanes)
            case Choose() as choose:
                self._choice(place, choose, groups, lanes)
            case WarpSync():
                self._warp_sync(place, groups, lanes)
            case Barrier() as barrier:
                ready = self._gather(place, groups, None) if barrier.aligned and self.strict else groups
                self._arrive_at_barrier(place, barrier, ready)
            case Invoke() as invoke:
                self._invoke(place, invoke, groups, lanes)
            case Done(thread):
                self._done(place, groups, thread)

    def execute(self, operation: Operation, lanes: Lanes, groups: int) -> None:
        """Runs one operation for the lanes whose guard is true; `groups` is the number of warps' groups."""
        counts = self.launch.counts
        counts.issued[operation.number] += groups
        self.operation = operation
        self.traffic.kernel = operation.origin.kernel
        try:
            if operation.guard is not None:
                lanes = lanes.under(operation.guard, operation.only_writes)
                if not lanes.count:
                    return
            counts.lanes[operation.number] += lanes.count
            operation.execute(lanes)
        except Trouble as trouble:
            if self.launch.skipped is not None and trouble.kind == "unsupported":
                self.launch.skipped.add(operation.number)
                return
            raise self.launch.fault(self, operation, trouble, lanes.numbers) from None

    def _count_steps(self, place: Place, groups: Groups) -> None:
        limit, most = (inf if n is None else n for n in (self.launch.max_steps, self.launch.max_work))
        if limit == most == inf:
            return
        size = len(place.segment.operations) + 1
        self.work += size
        self.steps[groups.warps] += size
        over = self.steps[groups.warps] > limit
        if over.any() or self.work > most:
            what = f"{limit} instructions of one warp" if over.any() else f"{most} instructions"
            trouble = Trouble("step limit", f"more than {what}; is it an endless loop?")
            last = groups.chosen(over) if over.any() else groups
            raise self.launch.fault(self, place.operation, trouble, last.lanes(), place.segment.block)

    def lanes_in(self, context: Context, groups: Groups) -> Lanes:
        if groups.ready is None or groups.ready.frame is not context.frame:
            whole = len(groups) == self.warps and (groups.masks == FULL).all() and (np.diff(groups.warps) > 0).all()
            groups.ready = Lanes(self, context.frame, None if whole else groups.lanes())
        return groups.ready

    # places ------------------------------------------------------------------------------------------

    def place(self, context: Context, number: int) -> Place:
        if number not in context.places:
            segment = context.code.segments[number]
            path = context.caller.key[1:] if context.caller else ()
            spins = segment.spins or (context.caller is not None and context.caller.spins)
            made = Place(context, number, segment, (int(spins), *path, number), len(self.places))
            self.places.append(made)
            context.places[number] = made
        return context.places[number]

    def _arrive(self, place: Place, groups: Groups) -> None:
        """Groups come to a place. Those that reconverge there wait until all of their lanes have arrived."""
        if not len(self.tokens.place) and len(groups.warps):  # no lanes have diverged yet
            self._push(place, groups)
            return
        while len(groups):
            going, touched = self.tokens.arrive(groups, place.id)
            if len(going):
                self._push(place, going)
            if not len(touched) or not len(done := self.tokens.complete(touched, self.alive)):
                return
            groups = self.tokens.release(done, self.alive)

    def _push(self, place: Place, groups: Groups) -> None:
        if not self.launch.seed:
            self.ready.setdefault((0, place), []).append(groups)
            return
        cohorts = self._cohort[groups.warps]
        if np.count_nonzero(cohorts == cohorts[0]) == len(cohorts):
            self.ready.setdefault((int(cohorts[0]), place), []).append(groups)
            return
        for cohort in np.unique(cohorts):
            self.ready.setdefault((int(cohort), place), []).append(groups.chosen(cohorts == cohort))

    def _release(self, tokens: Array) -> None:
        """Lanes that wait to reconverge go on without the missing ones."""
        for place_id in np.unique(self.tokens.place[tokens]):
            here = tokens[self.tokens.place[tokens] == place_id]
            self._arrive(self.places[place_id], self.tokens.release(here, self.alive))

    # branches ----------------------------------------------------------------------------------------

    def _fork(self, place: Place, fork: Fork, groups: Groups, lanes: Lanes) -> None:
        if not fork.around:
            self.execute(fork.operation, lanes, len(groups))
        condition = self._condition(fork, lanes)
        taken, fallen = (self.place(place.context, n) for n in (fork.taken, fork.fallen))
        count = np.count_nonzero(condition)
        if count == len(condition):
            self._arrive(taken, groups)
        elif not count:
            self._arrive(fallen, groups)
        else:
            masks = groups.packed(condition)
            self._diverge(place, groups, [(taken, masks), (fallen, groups.masks & ~masks)], fork)

    def _condition(self, fork: Fork, lanes: Lanes) -> Array:
        try:
            lanes.require(fork.condition.registers, "what a branch depends on")
        except Trouble as trouble:
            raise self.launch.fault(self, fork.operation, trouble, lanes.numbers) from None
        condition = fork.condition.each(lanes)
        return ~condition if fork.negated else condition

    def _choice(self, place: Place, choose: Choose, groups: Groups, lanes: Lanes) -> None:
        self.execute(choose.operation, lanes, len(groups))
        try:
            lanes.require(choose.index.registers, "what a branch depends on")
            index = choose.index.each(lanes)
            if int(index.max()) >= len(choose.targets):
                wrong = lanes.numbers[index >= len(choose.targets)]
                message = f"the index {int(index.max())} is not below the {len(choose.targets)} targets"
                raise Trouble("out of bounds", message, wrong)
        except Trouble as trouble:
            raise self.launch.fault(self, choose.operation, trouble, lanes.numbers) from None
        targets: dict[int, Array] = {}
        for value in np.unique(index):
            target, masks = choose.targets[value], groups.packed(index == value)
            targets[target] = targets[target] | masks if target in targets else masks
        self._diverge(place, groups, [(self.place(place.context, t), m) for t, m in targets.items()], choose)

    def _diverge(self, place: Place, groups: Groups, targets: list[tuple[Place, Array]], end: Fork | Choose) -> None:
        """Sends each target its lanes of each group. Groups that diverge get a token to reconverge."""
        diverging = sum((masks != 0).astype(np.int64) for _, masks in targets) > 1
        if diverging.any():
            if end.uniform and self.strict:
                trouble = Trouble("convergence", "it is `.uni`, but lanes of one warp disagree")
                raise self.launch.fault(self, end.operation, trouble, groups.chosen(diverging).lanes())
            join = self._reconvergence(place, end.reconvergence)
            if join is not None:
                tokens = groups.tokens.copy()
                tokens[diverging] = self.tokens.diverge(groups.chosen(diverging), join.id)
                groups = Groups(groups.warps, groups.masks, tokens)
        for target, masks in targets:
            self._arrive(target, Groups(groups.warps, masks, groups.tokens).narrowed(masks))

    def _reconvergence(self, place: Place, number: int | None) -> Place | None:
        if number is not None:
            return self.place(place.context, number)
        caller, invoke = place.context.caller, place.context.invoke
        return None if caller is None or invoke is None else self.place(caller.context, invoke.following)

    # convergent instructions and barriers --------------------------------------------------------------

    def _warp_sync(self, place: Place, groups: Groups, lanes: Lanes) -> None:
        sync = place.segment.ending
        assert isinstance(sync, WarpSync)
        wanted = None
        if sync.mask is not None:
            self.operation = sync.operation
            try:
                lanes.require(sync.mask.registers, "a mask of lanes")
            except Trouble as trouble:
                raise self.launch.fault(self, sync.operation, trouble, lanes.numbers) from None
            wanted = sync.mask.each(lanes)
        self._execute_together(place, sync, self._gather(place, groups, wanted))

    def _execute_together(self, place: Place, sync: WarpSync, ready: Groups) -> None:
        if len(ready):
            self.groups = ready
            self.execute(sync.operation, self.lanes_in(place.context, ready), len(ready))
            self._arrive(self.place(place.context, sync.following), ready)

    def _gather(self, place: Place, groups: Groups, wanted: Array | None) -> Groups:
        """The groups whose lanes in the mask have all arrived (`wanted`, for each lane; None: the whole warp). Others
        wait at the place."""
        together = (groups.masks == self.alive[groups.warps]).all() and (wanted is None or (wanted == FULL).all())
        if together and len(groups) and place not in self.converging:
            return groups
        full = np.broadcast_to(FULL, (len(groups), WARP)) if wanted is None else _spread(groups, wanted)
        others = place in self.converging
        if others:
            waiting, masks = self.converging.pop(place)
            groups, full = (
                Groups(
                    *(np.concatenate([getattr(waiting, f), getattr(groups, f)]) for f in ("warps", "masks", "tokens"))
                ),
                np.concatenate([masks, full]),
            )
        active = groups.active()
        ready = np.zeros(len(groups), np.uint32)
        named = np.zeros(self.warps, np.uint32)
        for mask in np.unique(full[active]):
            mine = groups.packed((full == mask)[active])
            here = groups.warps[mine != 0]
            if self.strict and (named[here] & mask).any():
                raise self._fault_at(
                    place,
                    "convergence",
                    f"{mask:#010x} and another mask name the same lanes",
                    groups,
                    np.where(named[groups.warps] & mask, mine, np.uint32(0)),
                )
            named[here] |= mask
            strangers = mine & ~mask
            if strangers.any():
                raise self._fault_at(
                    place,
                    "convergence",
                    f"the mask {mask:#010x} does not name the lanes that execute it",
                    groups,
                    strangers,
                )
            come = np.zeros(self.warps, np.uint32)
            np.bitwise_or.at(come, groups.warps, mine)
            missing = self.alive[groups.warps] & mask & ~come[groups.warps]
            ready |= np.where(missing == 0, mine, np.uint32(0))
        rest = groups.masks & ~ready
        if rest.any():
            self.converging[place] = (groups.narrowed(rest), full[rest != 0])
        whole = groups.narrowed(ready)
        return united(whole) if others and len(whole) else whole

    def _arrive_at_barrier(self, place: Place, barrier: Barrier, groups: Groups) -> None:
        if not len(groups):
            return
        lanes = self.lanes_in(place.context, groups)
        self.groups = groups
        self.execute(barrier.operation, lanes, len(groups))
        try:
            self.barriers.arrive(place, barrier, groups, lanes)
        except Trouble as trouble:
            raise self.launch.fault(self, barrier.operation, trouble, lanes.numbers) from None

    def released(self, place: Place, groups: Groups) -> None:
        """A barrier lets these groups go on after it."""
        ending = place.segment.ending
        assert isinstance(ending, Barrier)
        self._arrive(self.place(place.context, ending.following), groups)

    # calls -------------------------------------------------------------------------------------------

    def _invoke(self, place: Place, invoke: Invoke, groups: Groups, lanes: Lanes) -> None:
        self.execute(invoke.operation, lanes, len(groups))
        try:
            for name, masks in call(self, place, invoke, groups, lanes):
                self._enter(place, invoke, name, groups.narrowed(masks))
        except Trouble as trouble:
            raise self.launch.fault(self, invoke.operation, trouble, lanes.numbers) from None

    def _enter(self, place: Place, invoke: Invoke, name: str, groups: Groups) -> None:
        code = self.launch.program.codes[name]
        caller = place.context
        key = (place.number, name)
        if key not in caller.callees:
            if caller.depth == DEPTH:
                raise Trouble("out of bounds", f"calls are nested more than {DEPTH} deep")
            start = caller.frame.local + caller.code.frame_bytes
            start += -start % 16
            frame = self._frame(code, start)
            caller.callees[key] = Context(code, frame, place, invoke, depth=caller.depth + 1)
        context = caller.callees[key]
        lanes = groups.lanes()
        context.frame.forget(lanes)
        self._map_frame(context, lanes, MAPPED | WRITABLE)
        pass_arguments(self.lanes_in(caller, groups), self.lanes_in(context, groups), invoke, code)
        self._arrive(self.place(context, 0), groups)

    def pass_by(self, place: Place, invoke: Invoke, groups: Groups) -> None:
        """The called function has already been run."""
        self._arrive(self.place(place.context, invoke.following), groups)

    def _done(self, place: Place, groups: Groups, thread: bool) -> None:
        context = place.context
        if thread or context.caller is None or context.invoke is None:
            self._exit(groups)
            return
        pass_results(self.lanes_in(context, groups), self.lanes_in(context.caller.context, groups), context)
        self._map_frame(context, groups.lanes(), 0)
        self._arrive(self.place(context.caller.context, context.invoke.following), groups)

    def _frame(self, code: Code, start: int) -> Frame:
        """The registers of an activation whose variables begin `start` bytes into local memory."""
        local = self.spaces["local"]
        if start + code.frame_bytes > local.size:
            local.grow(max(2 * local.size, start + code.frame_bytes))
        return Frame(code, self.lanes, start)

    def _map_frame(self, context: Context, lanes: Array, state: int) -> None:
        """Begins or ends the lifetime of the activation's variables for these lanes."""
        local = self.spaces["local"]
        local.map(local.base + context.frame.local, context.code.frame_bytes, state, instances=lanes)

    def _exit(self, groups: Groups) -> None:
        np.bitwise_and.at(self.alive, groups.warps, ~groups.masks)
        self.barriers.end(groups)
        tokens = np.unique(groups.tokens[groups.tokens != NONE])
        while len(tokens):  # others may have waited only for these lanes
            above = self.tokens.parent[tokens]
            done = self.tokens.complete(tokens, self.alive)
            self._release(done)
            tokens = np.unique(above[above != NONE])
        for place in list(self.converging):
            self._reconsider(place)

    def _reconsider(self, place: Place) -> None:
        """Lanes have ended, so those that wait here may be complete."""
        ready = self._gather(place, no_groups(), None)
        match place.segment.ending:
            case WarpSync() as sync:
                self._execute_together(place, sync, ready)
            case Barrier() as barrier:
                self._arrive_at_barrier(place, barrier, ready)

    # no thread can go on -----------------------------------------------------------------------------

    @property
    def loops_without_waiting(self) -> bool:
        """Whether some threads that change nothing are in loops that are not known to wait."""
        return not all(place.spins for _, place in self.ready)

    def no_progress_fault(self) -> Exception:
        """The fault of lanes of one warp that wait for each other at different places, or else a deadlock."""
        held = len(self._free()) < len(self.tokens.waiting())
        return (
            divergence_fault(self) if held or (self.strict and self.converging and not self.ready) else deadlock(self)
        )

    def _free(self) -> Array:
        """The tokens whose lanes may go on without the missing ones. Lanes that a convergent instruction needs, while
        its other lanes are those that are missing, may not: they could end, and the error would be hidden."""
        tokens, waiting = self.tokens, self.tokens.waiting()
        warps, arrived = tokens.warp[waiting], tokens.arrived[waiting]
        missing, held = tokens.members[waiting] & ~arrived, np.zeros(len(waiting), np.bool_)
        for groups, masks in self.converging.values() if self.strict else ():
            here, asked = np.zeros(self.warps, np.uint32), np.zeros(self.warps, np.uint32)
            np.bitwise_or.at(here, groups.warps, groups.masks)
            np.bitwise_or.at(asked, groups.warps, np.bitwise_or.reduce(masks, axis=1))
            held |= (missing & here[warps] != 0) & (arrived & asked[warps] != 0)
        return waiting[~held]

    def _fault_at(self, place: Place, kind: str, message: str, groups: Groups, masks: Array) -> Exception:
        """A fault of the instruction that ends the segment, for those lanes of the groups."""
        lanes = groups.narrowed(masks.astype(np.uint32)).lanes()
        return self.launch.fault(self, place.operation, Trouble(kind, message), lanes, place.segment.block)


def _key(place: tuple[int, Place]) -> tuple[int, ...]:
    return place[1].key


def _spread(groups: Groups, values: Array) -> Array:
    """One value for each lane as rows of 32, with 0 for lanes that are not in the group."""
    rows = np.zeros((len(groups), WARP), values.dtype)
    rows[groups.active()] = values
    return rows
