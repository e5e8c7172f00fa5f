"""A bench without a GPU: the emulator judges, bit for bit; a time is a count of instructions."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import goptx
from goptx.checking.verdict import differences
from goptx.errors import EmulationFault
from goptx.launch.sample_data import sample
from goptx.launch.shape import Shape
from goptx.launch.specification import Argument
from goptx.measuring.bench.baselines import WAYS
from goptx.measuring.bench.bench import Timed
from goptx.measuring.bench.questions import Described, Failed, Judged, Opened
from goptx.measuring.bench.workload import Workload
from goptx.results.fused_kernel import Woven

LAUNCH = 5000  # instructions that a launch costs
PATIENCE = 10_000  # instructions of a warp after which a kernel counts as hanging


class EmulatingBench:
    """`outputs` are what the candidates wrote, by their names; "separate" are those of the unchanged kernels."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}
        self.outputs: dict[str, list[list[Any]]] = {}

    def described(self) -> Described:
        return Described("Emulator", "sm_90", "none")

    def open(self, workload: Workload) -> Opened:
        letters = workload.separate.report.kernels
        self.inputs = [
            [sample(v, workload.seed, ord(letter)) if isinstance(v, Argument) else v for v in own]
            for letter, own in zip(letters, workload.arguments, strict=True)
        ]
        self._run("separate", workload.separate)
        self.ms |= dict.fromkeys(WAYS, self.ms["separate"])
        self.workload = workload
        return Opened(self.ms["separate"])

    def judge(self, key: str, woven: Woven, cap: int | None = None, common: Shape | None = None) -> Judged | Failed:
        expected = self.outputs["separate"]
        try:
            self._run(key, woven, common)
        except EmulationFault as fault:
            return Failed(str(fault))
        found = [
            str(difference)
            for letter, one, other in zip("ABC", expected, self.outputs[key], strict=False)
            for difference in differences([f"{letter}:{i}" for i in range(len(one))], one, other)
        ]
        if found:
            del self.ms[key]
        return Judged(wrong="; ".join(found))

    def holds(self, key: str) -> bool:
        return key in self.ms

    def renew(self) -> Opened:
        self.ms = {}
        return self.open(self.workload)

    def time(self, keys: Sequence[str], repeats: int, warmups: int = 1, launched: bool = False) -> Timed:
        return Timed({key: [self.ms[key]] * repeats for key in keys})

    def close(self) -> None:
        raise AssertionError("benches of the caller stay open")

    def _run(self, key: str, woven: Woven, common: Shape | None = None) -> None:
        state = deepcopy(self.inputs)
        grid, block = (common.sizes("grid"), common.sizes("block")) if common else (None, None)
        shared = common.shared or 0 if common else 0
        done = goptx.emulate(woven, grid, block, state, shared=shared, max_steps=PATIENCE)
        self.outputs[key] = state
        self.ms[key] = (sum(done.instructions.values()) + LAUNCH * len(woven.entries)) / 1000
