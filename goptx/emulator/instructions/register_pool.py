"""`setmaxnreg`: warpgroups give up registers, or take more from those that others of their CTA gave up.

A warp that takes registers waits until there are enough. Here it goes on, and a CTA whose warps have more registers in
the end than it began with is reported: on a GPU some of them would have waited for ever. The values of registers stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from goptx.emulator.faults import Trouble
from goptx.emulator.instructions.constant_expression import whole
from goptx.emulator.instructions.lanewise import Array
from goptx.emulator.lanes import WARP, Lanes
from goptx.emulator.operands import Names, operands_of
from goptx.ptx.ir import Function, Instruction

if TYPE_CHECKING:
    from goptx.emulator.machine import Machine
    from goptx.emulator.program import Operation

STEP, LEAST, MOST = 8, 24, 256  # of the registers of a thread (PTX ISA)
WARPGROUP = 4  # warps


class RegisterPool:
    """The registers of a thread of each warp. `at_entry`: as many as each has when the kernel begins (`.maxnreg`); None
    if that is not stated, and then `setmaxnreg` does nothing, as with ptxas."""

    def __init__(self, machine: Machine, entry: Function) -> None:
        stated = [d.values[0] for d in entry.directives if d.name == ".maxnreg"]
        self.machine = machine
        self.at_entry = whole(stated[0]) if stated else None
        self.own = np.full(machine.warps, self.at_entry or 0)
        self.took: tuple[Operation, Array] | None = None

    def move(self, lanes: Lanes, number: int, takes: bool) -> None:
        """The warps have `number` registers for each thread from here on."""
        if self.at_entry is None:
            return
        warps = np.unique(lanes.numbers // WARP)
        if ((self.own[warps] > number) if takes else (self.own[warps] < number)).any():
            way = "takes registers, but it has more" if takes else "gives up registers, but it has fewer"
            raise Trouble("registers", f"a warp {way} than {number}")
        self.own[warps] = number
        if takes:
            self.took = self.machine.operation, lanes.numbers

    def check(self) -> None:
        """Of the CTAs when all threads have ended. Raises `EmulationFault`."""
        if self.took is None or self.at_entry is None:
            return
        each = self.own.reshape(-1, self.machine.warps_per_cta).sum(axis=1)
        most = self.at_entry * self.machine.warps_per_cta
        groups = self.own.reshape(-1, self.machine.warps_per_cta)
        operation, lanes = self.took
        if (each > most).any():
            message = f"its warps have {each.max() * WARP} registers, and begin with {most * WARP}: one waits for ever"
            raise self.machine.launch.fault(self.machine, operation, Trouble("deadlock", message), lanes)
        whole_groups = groups[:, : groups.shape[1] // WARPGROUP * WARPGROUP].reshape(-1, WARPGROUP)
        if len(whole_groups) and (whole_groups != whole_groups[:, :1]).any():
            message = "some warps of a warpgroup execute it, and others do not"
            raise self.machine.launch.fault(self.machine, operation, Trouble("convergence", message), lanes)


def setmaxnreg(instruction: Instruction, names: Names) -> Callable[[Lanes], None]:
    """setmaxnreg.{inc,dec}.sync.aligned.u32 number"""
    words = instruction.opcode.split(".")
    (operand,) = operands_of(instruction)
    number = whole(str(operand))
    if words[1:2] not in (["inc"], ["dec"]) or words[2:] != ["sync", "aligned", "u32"]:
        raise Trouble("unsupported", f"`{instruction.opcode}` is not known to the emulator")
    if number % STEP or not LEAST <= number <= MOST:
        raise Trouble("registers", f"{number} is not a multiple of {STEP} from {LEAST} to {MOST}")

    def execute(lanes: Lanes) -> None:
        lanes.machine.pool.move(lanes, number, words[1] == "inc")

    return execute


BUILDERS: dict[str, Callable[[Instruction, Names], Callable[[Lanes], None]]] = {"setmaxnreg": setmaxnreg}
