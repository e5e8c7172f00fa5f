"""Runs kernels on the GPU, two or more woven and separately, and prints a line for each pair: a child's part.

    python pair_runner.py constructs|waiting POLICY SLICING [FIRST+SECOND[+THIRD ...] ...]

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
from goptx.device.load import current_device, launch, load
from goptx.options import Policy, Slicing

TESTS = Path(__file__).parent.parent
sys.path.append(str(TESTS))

from weaving import waiting_kernels as waiting  # noqa: E402 - found by the line above

# of each family of kernels: CTAs, threads, elements; of the first, 80 threads of the last CTA are beyond n
SHAPES = {"constructs": (5, 256, 1200), "waiting": (4, 128, 200)}


def text(family: str, names: tuple[str, ...]) -> str:
    if family == "constructs":
        return (TESTS / "constructs" / "constructs.sm_80.ptx").read_text()
    return waiting.text(names=names)


def build(job: tuple[str, tuple[str, ...], Policy, Slicing, str]) -> tuple[tuple[str, ...], str, bytes, str]:
    """Names, entry, cubin and error of one woven pair, or of more kernels."""
    family, pair, policy, slicing, arch = job
    try:
        source = text(family, pair)
        woven = goptx.weave(
            *[source] * len(pair),
            entries=pair,
            arch=arch,
            policy=policy,
            slicing=slicing,
        )
        return pair, woven.name, woven.cubin(fmad=False), ""
    except goptx.GoptxError as error:
        return pair, "", b"", f"{type(error).__name__}: {error}".splitlines()[0]


def main(family: str, policy: Policy, slicing: Slicing, pairs: list[str]) -> None:
    source = text(family, (*waiting.KERNELS, *waiting.NOT_EMULATED))
    names = [e.name for e in goptx.read(source).entries]
    grid, block, n = SHAPES[family]
    wanted = [tuple(p.split("+")) for p in pairs] or [(a, b) for a in names for b in names]
    most = max(map(len, wanted))
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

    inputs = [array(rng.integers(0, 1000, n).astype(np.int32)) for _ in range(most)]
    outputs = [array(np.zeros(grid * block, np.int32)) for _ in range(most)]
    size = np.int32(n)

    expected: dict[tuple[str, int], Any] = {}
    for name in names:
        kernel = load(assemble(source, entry=name, arch=arch, fmad=False).cubin, name)
        for side in range(most):
            outputs[side][1][...] = -1515870811
            arguments: list[np.generic] = [
                np.uint64(int(inputs[side][0].handle)),
                np.uint64(int(outputs[side][0].handle)),
                size,
            ]
            launch(kernel, device.default_stream, arguments, grid=grid, block=block)
            device.sync()
            expected[name, side] = outputs[side][1].copy()

    pointers = [[np.uint64(int(b.handle)) for b, _ in own] for own in zip(inputs, outputs, strict=True)]
    jobs = [(family, pair, policy, slicing, arch) for pair in wanted]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for kernels, entry, cubin, error in pool.map(build, jobs, chunksize=8):
            pair = "+".join(kernels)
            if error:
                print(f"RESULT {pair} REFUSED {error}", flush=True)
                continue
            print(f"START {pair}", flush=True)
            for _, view in outputs:
                view[...] = -1515870811
            every: list[np.generic] = []
            for own in pointers[: len(kernels)]:
                every += [*own, size]
            launch(load(cubin, entry), device.default_stream, every, grid=grid, block=block)
            device.sync()
            wrong = [
                int(np.count_nonzero(outputs[side][1] != expected[name, side])) for side, name in enumerate(kernels)
            ]
            print(f"RESULT {pair} {f'WRONG {wrong}' if any(wrong) else 'right'}", flush=True)


if __name__ == "__main__":
    words: list[Any] = sys.argv[1:]
    main(words[0], words[1], int(words[2]) if words[2].isdigit() else words[2], words[3:])
