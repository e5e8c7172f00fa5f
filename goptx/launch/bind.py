"""The arguments of a woven kernel: one sequence for each of its kernels, packed and compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from goptx.errors import InputError
from goptx.launch.arguments import Packing, parameter_names
from goptx.launch.device_arrays import Extent
from goptx.launch.independence import Independence
from goptx.launch.parameter import Parameter


class Arguments:
    """The arguments of the fused kernel `name`: of the kernels with these letters, in order, then hidden ones. Meant to
    be reused, since most of the work is the same for every launch."""

    def __init__(self, name: str, letters: Iterable[str], params: Sequence[Parameter]) -> None:
        self.name = name
        self.packings = {letter: Packing([p for p in params if p.kernel == letter]) for letter in letters}
        self.params = [p for p in params if p.kernel is not None]
        self.lacking = any(p.instead is not None for p in self.params)
        self.independence = Independence(self.params)

    def packed(self, args: Sequence[Sequence[object]], independent: bool) -> tuple[list[bytes], str]:
        """The contents of the kernels' parameters, in order, and the text of a warning. Compares arguments unless the
        kernels are promised to be `independent`. Raises `InputError`, `DependentKernels`."""
        if len(args) != len(self.packings):
            letters = ", ".join(self.packings)
            raise InputError(f"`{self.name}` takes one argument sequence for each of the kernels {letters}.")
        contents: list[bytes] = []
        extents: list[Extent | None] = []
        for packing, own in zip(self.packings.values(), args, strict=True):
            try:
                given, where = packing.pack(own)
            except TypeError:
                self._check_sequences(args)
                raise
            contents += given
            extents += where
        doubt = "" if independent else self.independence.check(extents, contents=contents)
        return (held(self.params, contents) if self.lacking else contents), doubt

    def _check_sequences(self, args: Sequence[object]) -> None:
        """Raises `InputError` for an argument of its own in place of a kernel's sequence."""
        for letter, own in zip(self.packings, args, strict=True):
            if not isinstance(own, Collection):
                raise InputError(
                    f"`{self.name}`: the arguments of kernel {letter} are a sequence, such as [x, y, n], not "
                    f"`{type(own).__name__}`."
                )


def held(params: Sequence[Parameter], contents: Sequence[bytes]) -> list[bytes]:
    """The contents of the parameters that the fused kernel has. Raises `InputError` where a parameter and the one that
    is read instead of it have different contents."""
    check_equal(params, contents)
    return [content for param, content in zip(params, contents, strict=True) if param.instead is None]


def check_equal(params: Sequence[Parameter], contents: Sequence[bytes | int]) -> None:
    """Raises `InputError` where a parameter and the one that is read instead of it have different contents."""
    by_name = {p.name: i for i, p in enumerate(params)}
    for i, param in enumerate(params):
        if param.instead and contents[i] != contents[by_name[param.instead]]:
            names = parameter_names(params)
            raise InputError(
                f"{names[by_name[param.instead]]} and {names[i]} are one parameter of the fused kernel, and are given "
                "different arguments; pass the same, or fuse without same= for them."
            )
