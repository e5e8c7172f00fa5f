"""Regions that capture their stream: launches of goptx are fused if nothing else is between them.

Requires: a stream that is not the default one and is not captured yet. Each `launch` leaves a mark in the captured
graph; all other work on the stream becomes nodes of the graph. Ensures: the graph that is launched in the end does the
work that was put on the stream, in that order; each chain of known launches is completed as a region of its own and
replaced by the result, everything else is as it was captured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any

from goptx.device import recorded_streams
from goptx.display import as_html
from goptx.errors import AssemblyError, InputError
from goptx.launch.arguments import passed_by_value
from goptx.launch.device_arrays import Extent
from goptx.log import LOG
from goptx.region.capture_report import CaptureReport, LaunchGroup, Step
from goptx.region.chains import Chain, chains, in_order, replacements
from goptx.region.completion import Completion, RegionOptions, in_sequence
from goptx.region.fusion import Fusion, fixed_extent
from goptx.region.recorded import Recorded, recorded
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import MOST_KERNELS, Source
from goptx.strategies.choose_strategy import REFUSALS

if TYPE_CHECKING:
    from goptx.device.cuda_graph import Capture, Graph, Node

INVALIDATED = (
    "the capture of the fusion region was invalidated, and nothing was launched: something in the region waited for "
    "its stream, for an event on it or for the device, or did what a CUDA graph cannot hold; do so before or after the "
    "region."
)
Prepared = tuple[Completion, bool, float]


class CapturedFusion(Fusion):
    """A region that captures its stream, made by `goptx.fusion(stream, capture=True)`.

        with goptx.fusion(stream, capture=True) as f:
            f.launch(kernel_a, grid, block, *args_a)
            y = torch.relu(x)                          # on the same stream
            f.launch(kernel_b, grid, block, *args_b)
            f.launch(kernel_c, grid, block, *args_c)   # fused with B: nothing is between them

    Nothing runs before the end. Then each chain of launches that goptx knows, those of `launch` and of kernels that
    goptx loaded before (`Woven.launch`, `Woven.load`), is completed as a region of its own; all other work keeps its
    order. Arguments of kernels that others launched are compared by the allocations that they point into. A temporary
    (`private`, `local`) of launches in several groups stays in memory; no other kernel or copy may need the content of
    a temporary. `f.stream` is the stream itself.

    `report` is a `CaptureReport`; `fused` is the launched kernel if there is only one group; both are None if nothing
    was put on the stream. Raises `InputError` for the default stream, for one that is captured already, and at the end
    if something in the region waited for the stream; nothing is launched then, nor after an exception.
    """

    report: CaptureReport | None  # type: ignore[assignment]

    def __init__(self, stream: Any, how: RegionOptions) -> None:
        super().__init__(stream, how)
        self.stream = stream
        self._capture: Capture | None = None
        self._marks: dict[int, Recorded] = {}  # by the handles of nodes

    _repr_html_ = as_html

    def _begin(self) -> None:
        from goptx.device import cuda_graph

        handle = recorded_streams.handle_of(self._given)
        if handle is None:
            raise InputError("capture=True takes a cuda.core Stream, or an object with `__cuda_stream__`.")
        if handle in recorded_streams.DEFAULT:
            raise InputError("the default stream cannot be captured; give capture=True a stream of its own.")
        self._recording = recorded_streams.begin(self._given, capture=True)
        try:
            self._capture = cuda_graph.Capture(self._given)
        except BaseException:
            recorded_streams.end(self._recording)
            raise

    def launch(
        self, kernel: Source, grid: Any, block: Any, *args: object, entry: str | None = None, shared: int = 0
    ) -> None:
        """Records the launch of one kernel, as `Fusion.launch`, in order with the other work on the stream. Raises
        `InputError` also if the capture is no longer valid."""
        self._check_open("launch")
        letter = chr(ord("A") + len(self._marks) % MOST_KERNELS)
        made = recorded(kernel, entry, letter, (fixed_extent(grid), fixed_extent(block), shared), args)
        mark = self._capture.mark() if self._capture else None
        if mark is None:
            raise InputError(INVALIDATED)
        self._marks[mark] = made
        self._held.append(args)

    def cancel(self) -> None:
        """Ends the region and launches what was put on the stream, with nothing fused."""
        self._check_open("cancel")
        self._complete(self._captured("was cancelled", None), cancelled=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.state != "is open":  # it was cancelled
            return
        graph = self._captured("has ended", error)
        if kind is None:
            self._complete(graph)
        elif graph:
            graph.close()

    def _captured(self, state: str, error: BaseException | None) -> Graph | None:
        """Ends the capture. Raises `InputError` if it was invalidated."""
        if self._capture is None:
            return None
        try:
            graph = self._capture.end()
        finally:
            recorded_streams.end(self._recording)
            self.state = state
        if graph is None and (error is None or isinstance(error, Exception)):
            raise InputError(INVALIDATED) from error
        return graph

    def _complete(self, graph: Graph | None, cancelled: bool = False) -> None:
        if graph is None:
            return
        try:
            if graph.nodes:
                done = _Completing(self, graph, self._marks, cancelled)
                self.report = done.report()
                self.fused = done.only
        finally:
            graph.close()
            self._marks, self._held = {}, []


class _Completing:
    """Completes and launches the captured work."""

    def __init__(self, region: CapturedFusion, graph: Graph, marks: dict[int, Recorded], cancelled: bool) -> None:
        self.graph, self.cancelled = graph, cancelled
        self.stream, self.how = region._given, region._how
        self.begin = perf_counter()
        self.notes: list[str] = []
        self.marked = {i for i, node in enumerate(graph.nodes) if node.handle in marks}
        self.known = {i: marks[graph.nodes[i].handle] for i in self.marked}
        if not cancelled:
            self.known |= self._of_others()
        self.chains = chains(len(graph.nodes), graph.edges, self.known, graph.partial, MOST_KERNELS)
        self.parts = [self._part(chain) for chain in self.chains]
        self._share_out(region._temporaries)
        self.only: Woven | None = None

    def _of_others(self) -> dict[int, Recorded]:
        """Launches of kernels that goptx loaded. A graph that allocates memory keeps its nodes."""
        if self.graph.fixed:
            return {}
        found = {i: _recognised(node) for i, node in enumerate(self.graph.nodes) if i not in self.marked}
        return {i: made for i, made in found.items() if made is not None}

    def _part(self, chain: Chain) -> Fusion:
        part = Fusion(self.stream, self.how)
        part._launches = [self.known[node] for node in chain]
        return part

    def _share_out(self, temporaries: dict[str, list[Extent]]) -> None:
        for kind, extents in temporaries.items():
            for extent in extents:
                users = [part for part in self.parts if any(_touches(r, extent) for r in part._launches)]
                if not users:
                    raise InputError(f"{kind}(): no captured launch takes that buffer; give one that launches share.")
                if len(users) == 1:
                    users[0]._temporaries[kind].append(extent)
                else:
                    self._note(f"a {kind} buffer stays in memory: other work is between the launches that use it")

    def _note(self, text: str) -> None:
        LOG.warning(text)
        self.notes.append(text)

    def report(self) -> CaptureReport:
        """Launches everything, and reports it."""
        prepared = [self._prepared(chain, part) for chain, part in zip(self.chains, self.parts, strict=True)]
        between = perf_counter()
        self._launch([p if isinstance(p, tuple) else None for p in prepared])
        end = perf_counter()
        groups = tuple(
            LaunchGroup(len(chain), part.report, p if isinstance(p, str) else "")
            for chain, part, p in zip(self.chains, self.parts, prepared, strict=True)
        )
        self.only = self.parts[0].fused if len(self.parts) == 1 else None
        return CaptureReport(self._steps(), groups, tuple(self.notes), between - self.begin, end - between)

    def _prepared(self, chain: Chain, part: Fusion) -> Prepared | str:
        """The completion of a chain of launches, or the reason why they run as captured."""
        if self.marked.isdisjoint(chain):
            return self._of_captured(part) if len(chain) > 1 else "there is only one launch"
        if not self.cancelled:
            return part._prepared()
        done = in_sequence(part._launches, self.how, "the region was cancelled")
        done.fused.load(self.how.max_registers)
        return done, True, perf_counter()

    def _of_captured(self, part: Fusion) -> Prepared | str:
        try:
            prepared = part._prepared()
        except (*REFUSALS, AssemblyError) as reason:
            return str(reason)
        done = prepared[0]
        return (
            (done.reason or "separate launches are estimated to be fastest")
            if done.fused.strategy == "separate"
            else prepared
        )

    def _launch(self, prepared: Sequence[Prepared | None]) -> None:
        """Launches everything, in order; a region of one chain needs no graph."""
        if len(self.chains) == 1 and prepared[0] and len(self.chains[0]) == len(self.graph.nodes):
            self.parts[0]._start(*prepared[0])
            return
        made = {chain: (part, p) for chain, part, p in zip(self.chains, self.parts, prepared, strict=True) if p}
        for change in replacements(len(self.graph.nodes), self.graph.edges, list(made)):
            part, done = made[change.removed]
            self.graph.replace(change.removed, change.after, change.before, partial(part._start, *done))
        self.graph.launch()

    def _steps(self) -> tuple[Step, ...]:
        group = {node: number for number, chain in enumerate(self.chains) for node in chain}
        order = in_order(len(self.graph.nodes), self.graph.edges)
        return tuple(self._step(node, self.graph.nodes[node], group.get(node)) for node in order)

    def _step(self, number: int, node: Node, group: int | None) -> Step:
        if number in self.marked:
            return Step("launch", self.known[number].known.chosen.entry, group)
        return Step(node.kind, node.name, group)


def _recognised(node: Node) -> Recorded | None:
    """The launch of a kernel that goptx loaded, with the allocations that it points into; None if one is unknown."""
    from goptx.device import cuda_graph, loaded

    kernel = node.kernel
    found = loaded.origin(kernel.handles) if kernel and kernel.plain and kernel.table else None
    if kernel is None or found is None:
        return None
    module, entry = found
    function = next(e for e in module.entries if e.name == entry)
    contents = kernel.contents([p.size for p in function.parameters])
    made = recorded(module, entry, "A", (kernel.grid, kernel.block, kernel.shared), contents)
    extents = list(made.extents)
    for i, (param, extent) in enumerate(zip(made.known.params, made.extents, strict=True)):
        if extent and extent[0] and param.access != "none" and not passed_by_value(param):
            whole = cuda_graph.allocation(extent[0])
            if whole is None:
                return None
            extents[i] = extent[0], *whole
    return replace(made, extents=tuple(extents))


def _touches(launch: Recorded, declared: Extent) -> bool:
    """Whether a launch may use a buffer: an argument has memory in common with it, or is the same pointer."""
    return any(e and (e[0] == declared[0] or (e[1] < declared[2] and declared[1] < e[2])) for e in launch.extents)
