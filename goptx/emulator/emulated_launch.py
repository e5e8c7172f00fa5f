"""One launch: its shape, its memory, and its fault messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from goptx.emulator.deadlock import ranges
from goptx.emulator.emulation import Counts, Emulation, Tally
from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lanes import WARP
from goptx.emulator.machine import SMS, Machine
from goptx.emulator.memory.address_spaces import ALL, FIRST, MAPPED, WINDOWS, WRITTEN, Extent, Space
from goptx.emulator.memory.caller_buffers import Buffers
from goptx.emulator.memory.races import Races
from goptx.emulator.memory.traffic import Traffic
from goptx.emulator.operands import Symbol
from goptx.emulator.program import Operation, Program
from goptx.errors import EmulationFault

RESIDENT = 1 << 16  # threads that run at a time; other CTAs start when these have ended
MOST_BYTES = 1 << 30  # for registers
CTAS, THREADS = 32, 2048  # that fit on an SM


@dataclass(slots=True)
class Launch:
    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int
    parameters: bytes
    buffers: Buffers
    strict: bool
    find_races: bool
    seed: int
    max_steps: int | None
    max_work: int | None = None
    skipped: set[int] | None = None  # the numbers of instructions that the emulator lacks; None: such are a fault
    counts: Tally = field(init=False)
    traffic: Traffic = field(init=False)
    spaces: dict[str, Space] = field(init=False)
    printed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        operations = len(self.program.operations)
        self.counts = Tally([0] * operations, [0] * operations)
        self.traffic = Traffic()
        layout = self.program.layout
        sizes = {name: layout.sizes[name] for name in ("const", "param", "global")}
        self.spaces = {
            "const": Space("const", WINDOWS["const"], sizes["const"]),
            "param": Space("param", WINDOWS["param"], max(sizes["param"], len(self.parameters))),
            "global": self.buffers.space(sizes["global"]),
        }
        for name, state in (("const", MAPPED | WRITTEN), ("param", MAPPED | WRITTEN), ("global", ALL)):
            self.spaces[name].map(WINDOWS[name], sizes[name], state)
        for symbol_name, symbol in self._symbols():
            if symbol.space in self.spaces:
                extent = Extent(f"`{symbol_name}`", symbol.address, symbol.address + symbol.size)
                self.spaces[symbol.space].extents.append(extent)
        for space, address, content in layout.initial:
            at = address - self.spaces[space].base
            self.spaces[space].bytes[at : at + len(content)] = np.frombuffer(content, np.uint8)
        self.spaces["param"].bytes[: len(self.parameters)] = np.frombuffer(self.parameters, np.uint8)

    @property
    def threads(self) -> int:
        return math.prod(self.block)

    @property
    def shared_extents(self) -> list[Extent]:
        found = [Extent(f"`{n}`", s.address, s.address + s.size) for n, s in self._symbols() if s.space == "shared"]
        return found or [Extent("shared memory", FIRST, FIRST + self.program.layout.sizes["shared"])]

    def _symbols(self) -> list[tuple[str, Symbol]]:
        layout = self.program.layout
        return [item for names in (layout.symbols, *layout.own.values()) for item in names.items()]

    def sm_of(self, ctas: Array) -> Array:
        """The SM that runs each CTA: in their order, one after the other; with a seed in any order, so that some SMs
        run many CTAs and others none."""
        if not self.seed:
            return ctas % SMS
        return np.random.default_rng(self.seed).integers(0, SMS, math.prod(self.grid))[ctas]

    def run(self) -> Emulation:
        """Runs all CTAs, as many at a time as are resident. Copies buffers back to the arrays, also after a fault."""
        registers = sum(d.itemsize + 1 for d in self.program.codes[self.program.entry.name].names.dtypes)
        lanes = min(RESIDENT, MOST_BYTES // registers)
        per_wave = max(1, lanes // (-(-self.threads // WARP) * WARP))
        total = math.prod(self.grid)
        try:
            self._run([range(first, min(total, first + per_wave)) for first in range(0, total, per_wave)])
        finally:
            self.buffers.give_back(self.spaces["global"])
        return self.result()

    def _run(self, waves: list[range]) -> None:
        """Runs the waves one after the other. Where threads of one wait for something, later waves run beside it, as
        many as a GPU would run at a time."""
        begun: list[Machine] = []
        while begun or waves:
            before = self._state(begun)
            more = bool(waves) and (not begun or self._has_room(begun, waves[0]))
            if more:
                begun.append(Machine(self, waves.pop(0)))
            begun = [machine for machine in begun if not machine.run()]
            if begun and not more and self._state(begun) == before:
                if self.max_steps is not None and begun[0].loops_without_waiting:
                    begun[0].run(look=False)  # up to the limit
                raise begun[0].no_progress_fault()

    def _state(self, machines: Sequence[Machine]) -> list[bytes]:
        """What changes if any thread ends, or does something that another machine can see."""
        return [self.spaces["global"].bytes.tobytes(), *(m.alive.tobytes() for m in machines)] if machines else []

    def _has_room(self, begun: Sequence[Machine], wave: range) -> bool:
        """Whether a GPU can hold the CTAs of the wave beside those that have not ended."""
        ctas = sum(len(np.unique(m.cta_of(np.flatnonzero(m.alive)))) for m in begun) + len(wave)
        return ctas <= SMS * min(CTAS, THREADS // self.threads)

    def races(self, machine: Machine) -> Races | None:
        return Races(machine) if self.find_races else None

    def result(self) -> Emulation:
        letters = sorted({op.origin.kernel for op in self.program.operations})
        each = {letter: self._counts([letter]) for letter in letters}
        all_ = each[letters[0]] if len(letters) == 1 else self._counts(letters)
        return Emulation(
            all_.instructions,
            all_.lane_instructions,
            all_.barriers,
            all_.shared_transactions,
            all_.global_transactions,
            all_.executed,
            {letter: counts for letter, counts in each.items() if letter},
            "".join(self.printed),
        )

    def _counts(self, letters: Sequence[str]) -> Counts:
        instructions: dict[tuple[str, str, str], int] = {}
        executed: dict[tuple[str, int], int] = {}
        for operation in self.program.operations:
            issued = self.counts.issued[operation.number]
            if operation.origin.kernel in letters and issued:
                key = (operation.origin.kernel, operation.block, operation.instruction.opcode)
                instructions[key] = instructions.get(key, 0) + issued
                line = operation.origin.kernel, operation.origin.line
                executed[line] = executed.get(line, 0) + self.counts.lanes[operation.number]
        barriers, shared, globals_ = (
            sum(c[letter] for letter in letters)
            for c in (self.counts.barriers, self.traffic.shared, self.traffic.globals)
        )
        return Counts(instructions, sum(executed.values()), barriers, shared, globals_, executed)

    # faults ------------------------------------------------------------------------------------------

    def fault(
        self, machine: Machine, operation: Operation | None, trouble: Trouble, lanes: Array, block: str = ""
    ) -> EmulationFault:
        """The fault with its place and its threads."""
        lanes = lanes if trouble.lanes is None else trouble.lanes
        cta = int(machine.cta[lanes[0]])
        mine = lanes[machine.cta[lanes] == cta]
        coordinates = (cta % self.grid[0], cta // self.grid[0] % self.grid[1], cta // self.grid[0] // self.grid[1])
        threads = sorted(machine.thread[mine].tolist())
        others = len(np.unique(machine.cta[lanes])) - 1
        more = f" and {others} more CTAs" if others else ""
        line = operation.instruction.line if operation else 0
        return EmulationFault(
            f"{self.at(operation, block)}: {trouble.kind}: {trouble.message} "
            f"(CTA {coordinates}, {self.threads_text(machine, mine)}{more}).",
            kind=trouble.kind,
            source=self.program.module.source,
            line=line,
            instruction=str(operation.instruction) if operation else "",
            kernel=operation.origin.kernel if operation else "",
            cta=coordinates,
            threads=tuple(threads),
        )

    def at(self, operation: Operation | None, block: str = "") -> str:
        """File, line and instruction; for a woven kernel also its origin."""
        source = self.program.module.source
        if operation is None:
            return f"{source}: the end of block {block}"
        origin = operation.origin
        line, text = operation.instruction.line, f"`{operation.instruction}`"
        if not origin.kernel or origin.source == source:
            return f"{source}:{line}: {text}"
        whence = f"kernel {origin.kernel}, {origin.source}:{origin.line}" if origin.line else f"kernel {origin.kernel}"
        return f"{source}:{line} ({whence}): {text}"

    def threads_text(self, machine: Machine, lanes: Array) -> str:
        """`threads 32-47 (lanes 0-15 of warp 1)`"""
        threads = sorted(machine.thread[lanes].tolist())
        text = f"thread{'s' if len(threads) > 1 else ''} {ranges(threads)}"
        warps = {t // WARP for t in threads}
        if len(warps) == 1 and len(threads) < WARP:
            places = [t % WARP for t in threads]
            text += f" (lane{'s' if len(places) > 1 else ''} {ranges(places)} of warp {warps.pop()})"
        return text
