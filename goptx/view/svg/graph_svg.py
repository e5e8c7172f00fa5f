"""The picture of a graph of launches: what may run at once stands in one row, kernels to fuse have one colour."""

from __future__ import annotations

from collections.abc import Sequence

from goptx.graph.graph_description import Edge, Graph, GraphNode, Id
from goptx.view.graph_listing import rows
from goptx.view.svg.drawing import MARGIN, PAGE, document, escaped, heading, label, number
from goptx.view.svg.text_width import fitted
from goptx.view.svg.theme import hue

WIDTH, HEIGHT = 150, 34  # pixels of a node
ACROSS, DOWN = 18, 34  # pixels between nodes
MOST = (PAGE - 2 * MARGIN + ACROSS) // (WIDTH + ACROSS)  # nodes beside each other; more of them have several lines
TOP = 44
_RULES = """
.KIND .node { fill: var(--ground); stroke: var(--line); }
.KIND .opaque { stroke-dasharray: 4 3; }
.KIND .in { stroke: var(--own); stroke-width: 2; }
.KIND .wait { stroke: var(--faint); fill: none; }
"""


def graph_svg(graph: Graph, dependences: Sequence[Edge] | None = None, groups: Sequence[Sequence[Id]] = ()) -> str:
    """The picture as an SVG document, with the graph's own edges if no dependences are given. Dashed nodes have no
    PTX."""
    title = str(graph)
    if dependences is None:
        dependences = graph.edges
    else:
        title += f": {len(dependences)} dependences, {len(groups)} groups to fuse"
    group = {id_: i for i, ids in enumerate(groups) for id_ in ids}
    placed: dict[Id, tuple[float, float]] = {}
    lines = []
    for level in rows(graph, dependences):
        ordered = sorted(level, key=lambda n: (group.get(n.id, len(groups)), graph.position[n.id]))
        lines += [ordered[i : i + MOST] for i in range(0, len(ordered), MOST)]
    for y, line in enumerate(lines):
        for x, node in enumerate(line):
            placed[node.id] = MARGIN + x * (WIDTH + ACROSS), TOP + y * (HEIGHT + DOWN)
    wide = max((len(line) for line in lines), default=1)
    width = max(2 * MARGIN + wide * (WIDTH + ACROSS) - ACROSS, 420)
    height = TOP + len(lines) * (HEIGHT + DOWN) + MARGIN
    parts = [heading(title, width)]
    parts += [_edge(placed[one], placed[other]) for one, other in dependences]
    parts += [_node(node, *placed[node.id], group.get(node.id)) for node in graph.nodes]
    return document("graph", title, width, height, _RULES, parts)


def _edge(one: tuple[float, float], other: tuple[float, float]) -> str:
    x, y = one[0] + WIDTH / 2, one[1] + HEIGHT
    to, end = other[0] + WIDTH / 2, other[1]
    bend = (end - y) / 2
    path = f"M{number(x)} {number(y)}C{number(x)} {number(y + bend)} {number(to)} {number(end - bend)}"
    return f'<path class="wait" d="{path} {number(to)} {number(end)}"/>'


def _node(node: GraphNode, x: float, y: float, group: int | None) -> str:
    kinds = ["node", *(["opaque"] if node.ptx is None else []), *(["in"] if group is not None else [])]
    own = f' class="{hue(group)}"' if group is not None else ""
    box = f'x="{number(x)}" y="{number(y)}" width="{WIDTH}" height="{HEIGHT}" rx="4"'
    known = node.kind == "kernel" and node.ptx is not None
    return "\n".join(
        [
            f"<g{own}>",
            f"<title>{escaped(node)}</title>",
            f'<rect class="{" ".join(kinds)}" {box}/>',
            label(x + 6, y + 14, fitted(f"{node.id} {node.entry or node.kind}", WIDTH - 12)),
            label(x + 6, y + 27, fitted(str(node.shape) if known else node.kind, WIDTH - 12), "faint"),
            "</g>",
        ]
    )
