"""Runs kernels of different launch shapes on the GPU, woven and separately, and prints a line for each pair: a child's
part. `shape_runner.py 2 6` takes the third of six parts of the pairs. Each pair is announced before it is launched, so
that a hang is known to be that of the pair."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from weaving.shaped_kernels import KERNELS, WORDS

import goptx
from goptx import Shape
from goptx.device.assemble import assemble
from goptx.device.load import current_device, launch, load
from goptx.options import Axis, Strategy
from goptx.strategies.fuse import STRATEGIES

MIXES = [
    (Shape(4, 33), Shape(4, 64)),
    (Shape(300, 48), Shape(300, 256)),
    (Shape((2, 3), 256), Shape((3, 2), (16, 16))),
    (Shape((3, 5), (33, 3)), Shape((2, 3, 2), (5, 7, 2))),
    (Shape(7, (32, 2)), Shape((16, 64), 1024)),
]
COARSE: list[tuple[int, Axis, Shape]] = [
    (2, "x", Shape(300, 256)),
    (3, "x", Shape((7, 2), 48)),
    (4, "y", Shape((3, 9), (16, 16))),
]
LIMIT = np.uint32(150)
FREE = {"registers": [17], "leaving": [1]}  # words that hardware may fill differently: %warpid, activemask


def shapes_of(names: tuple[str, ...], mix: tuple[Shape, ...], known: bool) -> tuple[list[Shape], list[Shape]]:
    """The shapes of the launch, and those that weaving knows."""
    dynamic = [40000 if n in ("dynamic", "calling") else 0 for n in names]
    launched = [Shape(s.grid, s.block, bytes_) for s, bytes_ in zip(mix, dynamic, strict=True)]
    return launched, launched if known else [Shape(None, s.block, None) for s in launched]


def main() -> None:
    part, parts = map(int, sys.argv[1:])
    device = current_device()
    from cuda.core import LegacyPinnedMemoryResource

    arch, memory = f"sm_{device.arch}", LegacyPinnedMemoryResource()

    def output(shape: Shape) -> tuple[Any, Any]:
        buffer = memory.allocate(4 * WORDS * (shape.ctas or 0) * (shape.threads or 0))
        view = np.from_dlpack(buffer).view(np.uint32)
        view[...] = 0
        return buffer, view

    def alone(name: str, shape: Shape) -> Any:
        kernel = load(assemble(KERNELS[name], entry=name, arch=arch).cubin, name)
        buffer, view = output(shape)
        arguments: list[np.generic] = [np.uint64(int(buffer.handle)), LIMIT]
        extents = {what: shape.sizes(what) for what in ("grid", "block")}
        launch(kernel, device.default_stream, arguments, **extents, shared=shape.shared or 0)
        device.sync()
        return view.copy()

    for pair, names, launched, stated, make in islice(chain(mixed(arch), coarsened(arch)), part, None, parts):
        try:
            woven = make()
        except goptx.CannotWeave as error:
            print(f"RESULT {pair} REFUSED {error}".splitlines()[0], flush=True)
            continue
        expected = [alone(n, s) for n, s in zip(names, launched, strict=True)]
        outputs = [output(s) for s in launched]
        print(f"START {pair}", flush=True)
        arguments = [[np.uint64(int(buffer.handle)), LIMIT] for buffer, _ in outputs]
        woven.launch(device.default_stream, *arguments, **stated)
        device.sync()
        wrong = [
            sorted({int(i) % WORDS for i in np.flatnonzero(view != want)} - set(FREE.get(name, ())))
            for name, (_, view), want in zip(names, outputs, expected, strict=True)
        ]
        print(f"RESULT {pair} {f'WRONG words {wrong}' if any(wrong) else 'right'}", flush=True)


# Its name, its kernels, the shapes of their launches, how the woven kernel is launched, and what makes it.
Pair = tuple[str, tuple[str, ...], list[Shape], dict[str, Any], Callable[[], goptx.Woven]]


def mixed(arch: str) -> Iterator[Pair]:
    """Kernels of different shapes."""
    for names in product(KERNELS, repeat=2):
        for number, mix in enumerate(MIXES):
            known = (number + len(names[0])) % 2 == 0 or "calling" in names
            placement: Any = ("spread", "front")[(number + len(names[1])) % 2]
            pair = f"{'+'.join(names)}:{'+'.join(map(str, mix))}:{placement}:{'known' if known else 'hidden'}"
            launched, stated = shapes_of(names, mix, known)
            texts = [KERNELS[n] for n in names]
            make: Any = partial(goptx.weave, *texts, arch=arch, shapes=stated, placement=placement)
            yield pair, names, launched, {"shapes": launched}, make


def coarsened(arch: str) -> Iterator[Pair]:
    """Coarsened kernels alone, in their own grids; and among others, by every strategy."""
    for name in KERNELS:
        for factor, axis, shape in COARSE:
            for known in (True, False):
                (own,), _ = shapes_of((name,), (shape,), known)
                launch_as = {"grid": own.grid, "block": own.block, "shared": own.shared}
                make: Any = partial(goptx.coarsen, KERNELS[name], factor, axis, arch=arch, shape=own if known else None)
                pair = f"coarsen:{name}:{factor}{axis}:{shape}:{'known' if known else 'hidden'}"
                yield pair, (name,), [own], launch_as, make
    for strategy, names in product(STRATEGIES, product(KERNELS, repeat=2)):
        launched, stated = shapes_of(names, MIXES[len(names[0] + strategy) % 3], "calling" in names)

        def make_of(strategy: Strategy = strategy, names: Any = names, stated: Any = stated) -> goptx.Woven:
            sources = [goptx.coarsen(KERNELS[n], f) for n, f in zip(names, (2, 3), strict=True)]
            return goptx.fuse(*sources, strategy=strategy, arch=arch, shapes=stated)

        yield f"{strategy}:{'+'.join(names)}", names, launched, {"shapes": launched}, make_of


if __name__ == "__main__":
    main()
