"""Launches with arguments that are bound to them: a launch starts the kernels and does nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from goptx.device.load import current_device, device_number
from goptx.device.recorded_streams import check_launch
from goptx.errors import DependenceWarning, InputError
from goptx.launch.arguments import parameter_names
from goptx.launch.parameter import Parameter

if TYPE_CHECKING:
    from goptx.device.executable import Executable
    from goptx.device.launches.launch_graph import GraphNodes, LaunchGraph
    from goptx.device.launches.prepared_launch import PreparedLaunch


class BoundLaunch:
    """A launch whose arguments are packed and compared and whose kernels are loaded, made by `Woven.bind`.

        bound = woven.bind(args_a, args_b, grid=grid, block=block)
        bound.launch(stream)
        bound.update("A:4", 0.1)
        bound.launch(stream)

    Arrays are held as long as they are bound. Addresses are those at the time of `bind` or `update`: an array that gets
    other memory (a tensor that is resized, or whose `data` is set) has to be given again.

    Threads may launch it at once, and on several streams, while none of them updates it. It belongs to the device that
    was current when it was made.
    """

    def __init__(
        self, executable: Executable, prepared: PreparedLaunch, args: Sequence[Sequence[object]], independent: bool
    ) -> None:
        self._executable = executable  # and its kernels
        self._prepared = prepared
        self._starter, self._memory = prepared.starter, prepared.memory
        self._args = [arg for own in args for arg in own]
        self._independent = independent
        self._device = device_number()
        params = executable.packing.params
        self._names = _names(params)
        by_words = {f"{p.kernel}:{p.original}": i for i, p in enumerate(params)}
        self._numbers = {**by_words, **{name: i for i, name in enumerate(self._names)}}

    def __repr__(self) -> str:
        name, count = self._executable.launching.name, len(self._args)
        return f"BoundLaunch({name!r}, {count} arguments, device {self._device})"

    @property
    def name(self) -> str:
        """That of the launched result."""
        return self._executable.launching.name

    @property
    def arguments(self) -> dict[str, object]:
        """The bound arguments by the names of their parameters, `A:4`."""
        return dict(zip(self._names, self._args, strict=True))

    def launch(self, stream: Any = None) -> None:
        """Starts the kernels with the bound arguments and does not wait. `stream` is a cuda.core Stream, any object
        with `__cuda_stream__`, or None for the default stream; it may be capturing a CUDA graph.

        Raises `InputError` while a fusion region records the stream, or where another device is current; `DeviceError`
        when the driver refuses the launch.
        """
        check_launch(stream)
        if device_number() != self._device:
            self.use_device()
        self._starter(stream, self._memory)

    @overload
    def update(self, parameter: str, value: object, /) -> None: ...
    @overload
    def update(self, parameter: Mapping[str, object], /) -> None: ...
    def update(self, parameter: str | Mapping[str, object], value: object = None, /) -> None:
        """Changes one argument, or several at once: `update("A:4", 0.1)`, `update({"A:0": x, "B:0": y})`. A parameter
        is named by its kernel's letter and its number or name there (`A:lr`). What depends on it is checked again:
        whether it fits the parameter, whether the kernels are still independent, unless that was promised to `bind`,
        and, for parameters that were fused to one by `same=`, whether all get the same, so these are changed at once.

        Later launches pass it; graphs need an update of their own (`GraphNodes.update`).

        Raises `InputError`, `DependentKernels`; nothing has changed then.
        """
        given = {parameter: value} if isinstance(parameter, str) else parameter
        args = {self._number(name): arg for name, arg in given.items()}
        doubt = self._prepared.replace(args, self._independent)
        for number, arg in args.items():
            self._args[number] = arg
        if doubt:
            warnings.warn(doubt, DependenceWarning, stacklevel=2)

    def graph(self) -> LaunchGraph:
        """A CUDA graph of the launch, instantiated on the current device."""
        from goptx.device.launches.launch_graph import LaunchGraph

        self.use_device()
        return LaunchGraph(self)

    def add_to(self, graph: Any, after: Sequence[Any] = ()) -> GraphNodes:
        """Adds the launch to a CUDA graph of somebody else, which is not instantiated yet.

        graph: cuda.core's GraphDefinition; torch's CUDAGraph with `keep_graph=True`, captured; a handle of the driver;
            or a stream that is being captured, such as cuda.core's GraphBuilder or torch's current stream: then the
            launch comes after what was captured so far.
        after: nodes of the graph, or their handles, that come before it; not for a stream.

        The returned nodes hold what the graph needs; let them live as long as it. Raises `InputError`, `DeviceError`.
        """
        from goptx.device.launches.launch_graph import added

        self.use_device()
        return added(self, graph, after)

    @property
    def prepared(self) -> PreparedLaunch:
        """What is launched."""
        return self._prepared

    def use_device(self) -> None:
        """Makes the device current if this thread has none. Raises `InputError` where another one is."""
        number = device_number()
        if number is None:
            number = current_device().device_id
        if number != self._device:
            raise InputError(
                f"this launch of `{self.name}` was bound for device {self._device}, and device {number} is current; "
                "make its device current, or bind the arguments again."
            )

    def _number(self, name: str) -> int:
        """The number of the parameter among those of all kernels."""
        number = self._numbers.get(name)
        if number is None:
            names = ", ".join(parameter_names(self._executable.packing.params))
            raise InputError(f"update: `{self.name}` has no parameter `{name}`; it has {names or 'none'}.")
        return number


def _names(params: Sequence[Parameter]) -> list[str]:
    """Each as `A:4`, by its kernel's letter and its number there."""
    return [name.partition(" ")[0] for name in parameter_names(params)]
