"""Runs a kernel with a lock for each thread beside one that ends amid it, on the GPU, and prints a line for each way:
a child's part, since lanes that wait for each other hang."""

from __future__ import annotations

import sys
from itertools import permutations
from pathlib import Path
from typing import get_args

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from bodies import kernel
from weaving.test_reconverge import BOUND, BOUNDED, LOCKED, SHAPES, VALUES

import goptx
from goptx.device.load import current_device
from goptx.options import Policy

KERNELS = [kernel(BOUNDED), kernel(LOCKED)]


def main() -> None:
    device = current_device()
    from cuda.core import LegacyPinnedMemoryResource

    memory = LegacyPinnedMemoryResource()
    buffers = [memory.allocate(VALUES.nbytes) for _ in range(3)]
    values, *outputs = (np.from_dlpack(buffer).view(np.int32) for buffer in buffers)
    values[...] = VALUES
    pointers = [np.uint64(int(buffer.handle)) for buffer in buffers]
    expected = [np.zeros_like(VALUES) for _ in KERNELS]
    for text, shape, out in zip(KERNELS, SHAPES, expected, strict=True):
        goptx.emulate(text, shape.sizes("grid"), shape.sizes("block"), [VALUES, out, BOUND])
    for policy in get_args(Policy):
        for order in permutations(range(2)):
            shapes = [SHAPES[k] for k in order]
            woven = goptx.weave(
                *(KERNELS[k] for k in order), shapes=shapes, placement="front", policy=policy, arch=f"sm_{device.arch}"
            )
            for out in outputs:
                out[...] = 0
            name = f"{policy} {order}"
            print(f"START {name}", flush=True)
            woven.launch(device.default_stream, *([pointers[0], pointers[1 + k], np.int32(BOUND)] for k in order))
            device.sync()
            right = all(map(np.array_equal, outputs, expected))
            print(f"RESULT {name}: {'right' if right else 'WRONG'}", flush=True)


if __name__ == "__main__":
    main()
