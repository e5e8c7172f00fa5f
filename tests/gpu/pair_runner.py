"""Runs pairs of kernels on the GPU, woven and separately, and prints a line for each: a child's part.

    python pair_runner.py constructs|waiting POLICY SLICING [FIRST+SECOND ...]

The kernels are those of tests/constructs, or of tests/weaving/waiting_kernels.py, which need sm_90a. A pair is
announced before it is launched, so that whoever waits for a hang knows which one it is.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import goptx
from goptx.device.assemble import assemble
from goptx.device.launch import current_device, launch, load

TESTS = Path(__file__).parent.parent
sys.path.append(str(TESTS))

from weaving import waiting_kernels as waiting  # noqa: E402 - found by the line above

# of each family of kernels: CTAs, threads, elements; of the first, 80 threads of the last CTA are beyond n
SHAPES = {"constructs": (5, 256, 1200), "waiting": (4, 128, 200)}


def text(family: str, names: tuple[str, ...]) -> str:
    if family == "constructs":
        return (TESTS / "constructs" / "constructs.sm_80.ptx").read_text()
    return waiting.text(names=names)


def build(job: tuple[str, str, str, str, str, str]) -> tuple[str, str, bytes, str]:
    """Name, entry, cubin and error of one woven pair."""
    family, first, second, policy, slicing, arch = job
    pair = f"{first}+{second}"
    try:
        source = text(family, (first, second))
        woven = goptx.weave(
            source,
            source,
            entries=[first, second],
            arch=arch,
            policy=policy,
            slicing=int(slicing) if slicing.isdigit() else slicing,
        )
        return pair, woven.name, woven.cubin(fmad=False), ""
    except goptx.GoptxError as error:
        return pair, "", b"", f"{type(error).__name__}: {error}".splitlines()[0]


def main(family: str, policy: str, slicing: str, pairs: list[str]) -> None:
    source = text(family, (*waiting.KERNELS, *waiting.NOT_EMULATED))
    names = [e.name for e in goptx.parse(source).entries]
    grid, block, n = SHAPES[family]
    wanted = [tuple(p.split("+")) for p in pairs] or [(a, b) for a in names for b in names]
    device = current_device()
    from cuda.core import LegacyPinnedMemoryResource

    arch = f"sm_{device.arch}" + ("a" if family == "waiting" else "")
    memory = LegacyPinnedMemoryResource()
    rng = np.random.default_rng(7)

    def array(values: Any) -> tuple[Any, Any]:
        buffer = memory.allocate(values.nbytes)
        view = np.from_dlpack(buffer).view(values.dtype)
        view[...] = values
        return buffer, view

    inputs = [array(rng.integers(0, 1000, n).astype(np.int32)) for _ in range(2)]
    outputs = [array(np.zeros(grid * block, np.int32)) for _ in range(2)]
    size = np.int32(n)

    expected: dict[tuple[str, int], Any] = {}
    for name in names:
        kernel = load(assemble(source, entry=name, arch=arch, fmad=False).cubin, name)
        for side in range(2):
            outputs[side][1][...] = -1515870811
            arguments: list[np.generic] = [
                np.uint64(int(inputs[side][0].handle)),
                np.uint64(int(outputs[side][0].handle)),
                size,
            ]
            launch(kernel, device.default_stream, arguments, grid=grid, block=block)
            device.sync()
            expected[name, side] = outputs[side][1].copy()

    pointers = [np.uint64(int(b.handle)) for pair in zip(inputs, outputs, strict=True) for b, _ in pair]
    both: list[np.generic] = [pointers[0], pointers[1], size, pointers[2], pointers[3], size]
    jobs = [(family, a, b, policy, slicing, arch) for a, b in wanted]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for pair, entry, cubin, error in pool.map(build, jobs, chunksize=8):
            if error:
                print(f"RESULT {pair} REFUSED {error}", flush=True)
                continue
            print(f"START {pair}", flush=True)
            for _, view in outputs:
                view[...] = -1515870811
            launch(load(cubin, entry), device.default_stream, both, grid=grid, block=block)
            device.sync()
            first, second = pair.split("+")
            wrong = [
                int(np.count_nonzero(outputs[side][1] != expected[name, side]))
                for side, name in enumerate((first, second))
            ]
            print(f"RESULT {pair} {'right' if wrong == [0, 0] else f'WRONG {wrong}'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
