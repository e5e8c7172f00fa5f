"""goptx graph: shows a graph of launches, which of them depend on each other, and which would be fused."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from goptx.cli.argument_values import standard_input
from goptx.cli.command import NewParser
from goptx.cli.output import check_outputs, write


def add(new: NewParser) -> None:
    parser = new(
        "graph",
        help="show a graph of launches: dependences, and groups of kernels to fuse",
        description="Show which launches of a CUDA graph depend on each other, and which would be fused; needs no GPU.",
    )
    parser.add_argument("input", metavar="FILE", help="a description (docs/graphs.md), `-` for standard input")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there, not to standard output")
    parser.add_argument("--svg", action="store_true", help="a picture as SVG; the default is one of text")
    parser.add_argument(
        "--json", action="store_true", help="the description, with `dependences` (pairs of ids) and `groups` (of ids)"
    )
    parser.add_argument("--parallel", action="store_true", help="write the graph with only the edges that are needed")
    parser.add_argument("--fused", action="store_true", help="write the graph with fused kernels, and report")
    parser.add_argument(
        "--trust", choices=("pointers",),
        help="take kernels without PTX to access only the allocations that their parameters point into",
    )  # fmt: skip
    parser.add_argument("--arch", metavar="SM", help="the GPU whose times are estimated, such as sm_90")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from goptx.errors import InputError
    from goptx.graph.chosen_groups import chosen_groups
    from goptx.graph.graph_dependences import parallelize_graph
    from goptx.graph.graph_description import Graph
    from goptx.graph.optimized_graph import optimize_graph
    from goptx.view.graph_listing import graph_listing
    from goptx.view.svg.graph_svg import graph_svg

    if sum((options.svg, options.json, options.parallel, options.fused)) > 1:
        raise InputError("give one of --svg, --json, --parallel and --fused.")
    piped = options.input == "-"
    check_outputs([options.output or "-"], [] if piped else [Path(options.input)])
    graph = Graph.read(standard_input("a graph description") if piped else Path(options.input))
    if options.fused:
        done = optimize_graph(graph, trust=options.trust, arch=options.arch)
        write(options.output, done.graph.to_json())
        print(done.report, file=sys.stderr)
        return
    if options.parallel:
        write(options.output, parallelize_graph(graph, trust=options.trust).to_json())
        return
    found = chosen_groups(graph, options.trust, options.arch)
    if options.json:
        facts = json.loads(graph.to_json())
        facts |= {"dependences": found.dependences, "groups": found.groups}
        write(options.output, json.dumps(facts, indent=1) + "\n")
        return
    write(options.output, (graph_svg if options.svg else graph_listing)(graph, found.dependences, found.groups))
