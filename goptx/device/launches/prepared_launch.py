"""A launch in one shape on one device, that is started again and again with changing arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from goptx.launch.bind import Arguments
from goptx.launch.repeated.repeated_arguments import RepeatedArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from goptx.device.load import Starter


class PreparedLaunch:
    """Arguments, `memory` for them, and the `starter` of the kernels, which takes the memory. For one thread at a time;
    arrays are not held.

    `make` makes the starter: after the first arguments were packed and compared, so that what is wrong with them is
    reported first, also where there is no GPU.
    """

    def __init__(
        self,
        arguments: Arguments,
        args: Sequence[Sequence[object]],
        independent: bool,
        make: Callable[[], Starter],
    ) -> None:
        self.arguments = RepeatedArguments(arguments)
        _, self.doubt = self.arguments.give(args, independent)
        self.starter = make()
        self.memory = self.starter.memory()
        passed = (i for i, param in enumerate(arguments.params) if param.instead is None)
        self._places = {i: place for place, i in enumerate(passed)}
        self._words = self.memory.words
        self._starts = {i: self.memory.starts[place] for i, place in self._places.items()}
        self._write(self._places)

    def give(self, args: Sequence[Sequence[object]], independent: bool) -> str:
        """Takes the arguments of the next launches; returns the text of a warning. Raises `InputError`,
        `DependentKernels`; the arguments are the earlier ones then."""
        changed, doubt = self.arguments.give(args, independent)
        if changed:
            self._write(changed)
        return doubt

    def replace(self, args: Mapping[int, object], independent: bool) -> str:
        """As `give`, for the parameters with these numbers; the others stay."""
        changed, doubt = self.arguments.replace(args, independent)
        self._write(changed)
        return doubt

    def _write(self, changed: Iterable[int]) -> None:
        contents, words, starts = self.arguments.contents, self._words, self._starts
        for i in changed:
            content = contents[i]
            if i not in starts:  # another parameter is read instead of it
                continue
            if type(content) is int:
                words[starts[i]] = content
            else:
                self.memory.write(self._places[i], content)
