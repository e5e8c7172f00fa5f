"""The arguments of a woven kernel: one sequence for each of its kernels, packed and compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from goptx.arguments import Packing
from goptx.device_arrays import Extent
from goptx.errors import InputError
from goptx.independence import AccessedParameter, Independence


class Arguments:
    """Of the woven kernel `name`: of the kernels of these letters, in order, then hidden ones. To be kept, since most
    of the work is the same for every launch."""

    def __init__(self, name: str, letters: Iterable[str], params: Sequence[AccessedParameter]) -> None:
        self.name = name
        self.packings = {letter: Packing([p for p in params if p.kernel == letter]) for letter in letters}
        self.hidden = Packing([p for p in params if p.kernel is None])
        self.independence = Independence([p for p in params if p.kernel is not None])

    def packed(self, args: Sequence[Sequence[object]], independent: bool) -> tuple[list[bytes], str]:
        """What the kernels' parameters hold, in order, and what to warn of; compared unless the kernels are known to
        be `independent`. Raises `InputError`, `DependentKernels`."""
        if len(args) != len(self.packings):
            letters = ", ".join(self.packings)
            raise InputError(f"`{self.name}` takes one argument sequence for each of the kernels {letters}.")
        contents: list[bytes] = []
        extents: list[Extent | None] = []
        for packing, own in zip(self.packings.values(), args, strict=True):
            held, where = packing.pack(own)
            contents += held
            extents += where
        return contents, "" if independent else self.independence.check(extents)
