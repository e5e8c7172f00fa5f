"""Captures without a GPU: work on a stream becomes nodes with a function each, which a launch calls in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from region.emulated import Device

from goptx.device.cuda_graph import KernelNode, Node
from goptx.region.chains import in_order

Work = Callable[[], None]


@dataclass
class Streams:
    """The present capture, of any stream: nodes and their work; None if nothing is captured."""

    device: Device
    nodes: list[tuple[Node, Work]] | None = None
    valid: bool = True
    launched: list[list[str]] = field(default_factory=list)  # kinds of nodes, of each graph
    closed: int = 0
    fixed: bool = False
    joined: bool = True
    edges: list[tuple[int, int]] | None = None  # in place of one after the other
    partial: list[tuple[int, int]] = field(default_factory=list)

    def put(self, kind: str, work: Work, name: str = "", kernel: KernelNode | None = None) -> int:
        """Adds a node after all others and gives its handle. Runs at once if nothing is captured."""
        if self.nodes is None:
            work()
            return 0
        handle = 1000 + len(self.nodes)
        self.nodes.append((Node(handle, kind, name, kernel), work))
        return handle

    def wait(self) -> None:
        """Waits for the stream, which invalidates a capture."""
        self.valid = self.nodes is None


class Capture:
    def __init__(self, streams: Streams) -> None:
        assert streams.nodes is None
        self.streams, streams.nodes, streams.valid = streams, [], True

    def mark(self) -> int | None:
        return self.streams.put("empty", lambda: None) if self.streams.valid else None

    def end(self) -> "Graph | None":
        nodes, self.streams.nodes = self.streams.nodes, None
        assert nodes is not None
        return Graph(self.streams, nodes) if self.streams.valid else None


class Graph:
    def __init__(self, streams: Streams, nodes: list[tuple[Node, Work]]) -> None:
        self.streams, self.nodes = streams, [node for node, _ in nodes]
        self.work: dict[int, Work] = {i: work for i, (_, work) in enumerate(nodes)}
        self.kinds = {i: node.kind for i, (node, _) in enumerate(nodes)}
        self.edges = [(i, i + 1) for i in range(len(nodes) - 1)] if streams.edges is None else streams.edges
        self.partial, self.fixed = streams.partial, streams.fixed
        self.order = set(self.edges)
        self.now = {i: i for i in self.work}
        self.numbers = count(len(nodes))

    def replace(self, removed: Sequence[int], after: Sequence[int], before: Sequence[int], start: Work) -> None:
        self.streams.nodes = []
        start()
        child, self.streams.nodes = self.streams.nodes, None
        new = next(self.numbers)
        self.work[new] = lambda: _run(child or [])
        self.kinds[new] = "graph"
        self.order |= {(self.now[node], new) for node in after} | {(new, node) for node in before}
        for node in removed:
            del self.work[node]
            self.order = {edge for edge in self.order if node not in edge}
            self.now[node] = new

    def launch(self) -> None:
        nodes = sorted(self.work)
        edges = [(nodes.index(one), nodes.index(other)) for one, other in self.order]
        done = [nodes[i] for i in in_order(len(nodes), edges)]
        self.streams.launched.append([self.kinds[node] for node in done])
        for node in done:
            self.work[node]()

    def close(self) -> None:
        self.streams.closed += 1


def _run(nodes: list[tuple[Node, Work]]) -> None:
    for _, work in nodes:
        work()


def emulated(device: Device, patch: Any) -> Streams:
    """Regions with `capture=True` capture these streams."""
    from goptx.device import cuda_graph
    from goptx.results.fused_kernel import Woven

    streams = Streams(device)
    patch.setattr(cuda_graph, "Capture", lambda stream: Capture(streams))
    patch.setattr(cuda_graph, "allocation", lambda address: _array(device, address))
    patch.setattr(
        Woven,
        "launch",
        lambda woven, *args, **how: (streams.put("kernel", lambda: device.launch(woven, *args, **how)), None)[1],
    )
    return streams


def _array(device: Device, address: int) -> tuple[int, int] | None:
    found = next((a for a in device.arrays if a.address <= address < a.address + a.host.nbytes), None)
    return (found.address, found.address + found.host.nbytes) if found else None
