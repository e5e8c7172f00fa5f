"""Reads and writes the description of a graph, JSON; docs/graphs.md has the format.

Requires: nothing; errors name the node or edge. Ensures: what is written is read as an equal graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goptx.errors import InputError
from goptx.files_read import content_of
from goptx.graph.graph_description import KERNEL, Allocation, Edge, Graph, GraphNode, Id, Piece, Sizes

ACCESSED = ("reads", "writes")
_LARGEST = 1 << 64  # addresses are below it


def is_description(source: object) -> bool:
    """Whether it is of a type of which `read_graph` reads a description, and no graph of the driver."""
    return isinstance(source, Graph | bytes | str | Path | Mapping)


def read_graph(source: object) -> Graph:
    """The graph of a path (`Path`, or a `str` that is not JSON text), of JSON text, or of the parsed object; a graph is
    returned unchanged. Raises `InputError`."""
    if isinstance(source, Graph):
        return source
    if isinstance(source, bytes):
        return _graph(_parsed(source.decode(errors="replace"), "the description"), "the description")
    if isinstance(source, str) and source.lstrip().startswith(("{", "[")):
        return _graph(_parsed(source, "the description"), "the description")
    if isinstance(source, str | Path):
        return _graph(_parsed(_text(Path(source)), str(source)), str(source))
    if isinstance(source, Mapping):
        return _graph(source, "the description")
    raise InputError(
        f"an object of type {type(source).__name__} is not a graph; goptx takes a goptx.Graph, the path of a "
        "description, its text or its parsed JSON."
    )


def as_json(graph: Graph) -> str:
    """The description as text, one node a line."""
    nodes = [json.dumps(_written(node)) for node in graph.nodes]
    rest = {
        "edges": [list(edge) for edge in graph.edges],
        "allocations": [{"address": a.address, "bytes": a.bytes} for a in graph.allocations],
        "ptx": dict(graph.ptx),
    }
    lines = [f'"{name}": {json.dumps(value)}' for name, value in rest.items()]
    return '{"nodes": [\n  ' + ",\n  ".join(nodes) + "\n],\n" + ",\n".join(lines) + "}\n"


def _written(node: GraphNode) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": node.id, "entry": node.entry or None, "grid": list(node.grid), "block": list(node.block),
        "shared": node.shared, "parameters": [p.hex() for p in node.parameters], "ptx": node.ptx,
    }  # fmt: skip
    if node.kind != KERNEL:
        found["kind"] = node.kind
    if node.alone:
        found["alone"] = node.alone
    for name, pieces in (("reads", node.reads), ("writes", node.writes)):
        if pieces:
            found[name] = [list(piece) for piece in pieces]
    return found


def _text(path: Path) -> str:
    try:
        return content_of(path, "a graph description").decode()
    except UnicodeError:
        raise InputError(f"{path}: cannot be read (it is not text); give the path of a graph description.") from None


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{name}: it is not JSON ({error}).") from None
    except RecursionError:
        raise InputError(f"{name}: it is nested too deeply to be a graph.") from None


def _graph(value: Any, name: str) -> Graph:
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: a graph is an object with `nodes` and `edges`, not {_kind(value)}.")
    try:
        texts = _field(value, "ptx", dict, "the graph", {})
        if not all(isinstance(text, str) for text in texts.values()):
            raise InputError("ptx: each SHA-256 has the text of a module.")
        nodes = tuple(_node(v, i) for i, v in enumerate(_field(value, "nodes", list, "the graph")))
        return Graph(
            nodes,
            tuple(_edge(v) for v in _field(value, "edges", list, "the graph")),
            tuple(_allocation(v, i) for i, v in enumerate(_field(value, "allocations", list, "the graph", []))),
            {str(sha).lower(): text for sha, text in texts.items()},
        )
    except InputError as error:
        raise type(error)(f"{name}: {error}") from None


def _node(value: Any, index: int) -> GraphNode:
    if not isinstance(value, Mapping) or "id" not in value:
        raise InputError(f"nodes[{index}]: a node is an object with `id`, `entry`, `grid` and so on.")
    where = f"node {value['id']!r}"
    shared = _field(value, "shared", int, where, 0)
    sha = value.get("ptx")
    if sha is not None and not isinstance(sha, str):
        raise InputError(f"{where}: `ptx` is the SHA-256 of a module's text, or null.")
    entry = value.get("entry")
    if (sha is not None and not entry) or not isinstance(entry, str | None):
        raise InputError(f"{where}: `entry` is the name of its kernel" + ("." if sha else ", or null."))
    return GraphNode(
        _id(value["id"], f"nodes[{index}]"),
        entry or "",
        _sizes(value.get("grid", 1), f"{where}: grid"),
        _sizes(value.get("block", 1), f"{where}: block"),
        shared,
        tuple(_bytes(p, f"{where}: parameter {i}") for i, p in enumerate(_field(value, "parameters", list, where, []))),
        None if sha is None else sha.lower(),
        _field(value, "kind", str, where, KERNEL),
        _field(value, "alone", str, where, ""),
        *(tuple(_piece(p, f"{where}: {name}") for p in _field(value, name, list, where, [])) for name in ACCESSED),
    )


def _id(value: Any, where: str) -> Id:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InputError(f"{where}: an id is a number or a text, not {_kind(value)}.")
    return value


def _edge(value: Any) -> Edge:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(f"edges: {json.dumps(value, default=str)[:60]} is not a pair of ids, [before, after].")
    return _id(value[0], "edges"), _id(value[1], "edges")


def _allocation(value: Any, index: int) -> Allocation:
    where = f"allocations[{index}]"
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: an allocation is an object with `address` and `bytes`.")
    address, size = _number(value.get("address"), f"{where}: address"), _number(value.get("bytes"), f"{where}: bytes")
    if address + size > _LARGEST:
        raise InputError(f"{where}: its {size} bytes from {address:#x} on end beyond 64 bits.")
    return Allocation(address, size)


def _piece(value: Any, where: str) -> Piece:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(f"{where} has pairs of an address and a number of bytes.")
    return _number(value[0], where), _number(value[1], where)


def _number(value: Any, where: str) -> int:
    """A number, or the text of a hexadecimal one."""
    if isinstance(value, str) and re.fullmatch("0[xX][0-9a-fA-F]+", value):
        value = int(value, 16)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{where} is a number from 0 on, not {_kind(value)}.")
    return value


def _sizes(value: Any, where: str) -> Sizes:
    sizes = value if isinstance(value, list | tuple) else [value]
    right = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in sizes)
    if not right or not 1 <= len(sizes) <= 3:
        raise InputError(f"{where}: {json.dumps(value, default=str)[:60]} is not one to three numbers above 0.")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _bytes(value: Any, where: str) -> bytes:
    try:
        if isinstance(value, str):
            return bytes.fromhex(value.removeprefix("0x"))
    except ValueError:
        pass
    raise InputError(f"{where} is the hexadecimal text of its bytes, in the order in which they are in memory.")


def _field(value: Mapping[str, Any], name: str, kind: type, where: str, default: Any = None) -> Any:
    if name not in value and default is not None:
        return default
    if name not in value:
        raise InputError(f"{where}: `{name}` is missing; docs/graphs.md has the format.")
    found = value[name]
    if not isinstance(found, kind) or isinstance(found, bool):
        words = {list: "a list", dict: "an object", str: "a text", int: "a number"}
        raise InputError(f"{where}: `{name}` is {words[kind]}, not {_kind(found)}.")
    return found


def _kind(value: Any) -> str:
    words = {type(None): "null", dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return words.get(type(value), repr(value)[:40])
