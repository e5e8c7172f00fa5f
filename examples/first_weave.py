"""Weaves two kernels, assembles the result and says what that did; launches it too where there is a GPU.

python examples/first_weave.py [A.ptx B.ptx]        HARRIS and LUD of examples/kernels by default
"""

from __future__ import annotations

import sys
from pathlib import Path

import goptx
from goptx.device.assemble import assemble
from goptx.launch.arguments import pack_arguments
from goptx.launch.specification import read_specification

KERNELS = Path(__file__).parent / "kernels"
BLOCK = 256


def main(files: list[str]) -> int:
    paths = [Path(f) for f in files] or [KERNELS / "harris.sm_90.ptx", KERNELS / "lud.sm_90.ptx"]
    woven = goptx.weave(*paths)
    print(f"{paths[0].name} + {paths[1].name} -> {woven.name}\n")
    print(woven.report)

    print("\nregisters per thread")
    for path in paths:
        module = goptx.read(path)
        alone = assemble(str(module), entry=module.entries[0].name)
        print(f"  {path.name:20} {alone.registers:4}   ({alone.assembler})")
    cost = woven.resources(block=BLOCK)
    print(f"  {woven.name:20} {cost.registers:4}   spills {cost.spill_bytes} bytes, occupancy {cost.occupancy:.0%}")
    separate = sum(c.estimated_cycles for c in woven.report.kernels.values())
    print(f"estimated cycles of one warp: {separate} one after the other, {woven.report.merged.estimated_cycles} woven")

    if files:
        return 0
    try:
        equal = compare(woven, [path.with_name(path.name.split(".")[0] + ".toml") for path in paths])
    except goptx.DeviceError as error:
        print(f"\nnot launched: {error}")
        return 0
    print(f"\nlaunched beside separate launches: outputs {'are equal' if equal else 'DIFFER'}")
    return 0 if equal else 1


def compare(woven: goptx.Woven, specifications: list[Path]) -> bool:
    """Whether one launch of the woven kernel writes what separate launches write, contraction off."""
    from goptx.device.load import current_device, launch, load

    device = current_device()
    import numpy as np
    from cuda.core import LegacyPinnedMemoryResource

    launches = [read_specification(path)[0].small() for path in specifications]
    grid, block = launches[0].grid, launches[0].block
    memory = LegacyPinnedMemoryResource()  # host memory that the GPU reads and writes in place
    results = []
    for together in (False, True):
        views, arguments = [], []
        for one in launches:
            generator = np.random.default_rng(1)
            own: list[object] = []
            for a in one.arguments:
                scalar = np.dtype(a.dtype).type
                if not a.is_array:
                    own.append(scalar(a.value))
                    continue
                buffer = memory.allocate(a.length * scalar(0).nbytes)
                views.append(np.from_dlpack(buffer).view(a.dtype))
                views[-1][...] = generator.uniform(a.low, a.high, a.length).astype(a.dtype)
                own.append(buffer)
            arguments.append(own)
        if together:
            kernel = load(woven.cubin(fmad=False), woven.name)
            launch(kernel, device.default_stream, woven.arguments(*arguments), grid=grid, block=block)
        else:
            for path, one, own in zip(specifications, launches, arguments, strict=True):
                kernel = load(assemble(one.file.read_text(), entry=one.entry, fmad=False).cubin, one.entry)
                letter = "AB"[specifications.index(path)]
                packed = pack_arguments([p for p in woven.params if p.kernel == letter], own)
                launch(kernel, device.default_stream, packed, grid=grid, block=block)
        device.sync()
        results.append([view.copy() for view in views])
    return all(a.tobytes() == b.tobytes() for a, b in zip(*results, strict=True))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
