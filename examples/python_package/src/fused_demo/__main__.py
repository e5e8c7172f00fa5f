"""Launches what the package holds and compares it with numpy; on the emulator of goptx where there is no GPU."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import fused_demo

N, M, ROUNDS, A = 1000, 300, 20, np.float32(0.75)


def expected(y: Any, x: Any, states: Any) -> tuple[Any, Any]:
    states = states.copy()
    for _ in range(ROUNDS):
        states ^= states << np.uint32(13)
        states ^= states >> np.uint32(17)
        states ^= states << np.uint32(5)
    return A * x + y, states  # small whole numbers and quarters: right to the last bit


def main() -> int:
    y: Any = np.arange(N, dtype=np.float32)
    x: Any = y[::-1].copy()
    states: Any = np.arange(1, M + 1, dtype=np.uint32)
    right = expected(y, x, states)
    try:
        from cuda.core import Device

        device = Device()
        device.set_current()
    except Exception as error:
        print(f"no GPU ({type(error).__name__}): emulated")
        import goptx

        arguments = [y, x, A, np.uint32(N), states, np.uint32(ROUNDS), np.uint32(M)]
        goptx.emulate(fused_demo.ptx(), fused_demo.GRID, fused_demo.BLOCK, arguments)
    else:
        print(f"on {device.name}")
        from cuda.core import LegacyPinnedMemoryResource

        memory = LegacyPinnedMemoryResource()  # of the host, and the GPU reads and writes it in place
        views, buffers = [], []
        for array in (y, x, states):
            buffers.append(memory.allocate(array.nbytes))
            views.append(np.from_dlpack(buffers[-1]).view(array.dtype))
            views[-1][...] = array
        saxpy = (buffers[0], buffers[1], A, np.uint32(N))
        fused_demo.launch(device.default_stream, saxpy, (buffers[2], np.uint32(ROUNDS), np.uint32(M)))
        device.sync()
        y, _, states = views
    equal = (y == right[0]).all() and (states == right[1]).all()
    print(f"{N} floats and {M} states are {'right' if equal else 'WRONG'}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
