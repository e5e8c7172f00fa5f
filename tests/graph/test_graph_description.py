"""The description of a graph: what is written is read again, and bad input gets a clear answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graph.graph_kernels import N, buffer, chain, opaque, scale, scaled, u32, u64

import goptx
from goptx.errors import InputError, PtxSyntaxError
from goptx.graph.graph_description import sha_of

GRAPH = chain(scaled(0, 0, 1), scaled(1, 1, 2), opaque(2, u64(buffer(2)), kind="kernel"), opaque(3, kind="memcpy"))


def described() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(GRAPH.to_json())
    return value


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    GRAPH.save(path)
    for source in (path, str(path), path.read_text(), path.read_bytes(), described(), GRAPH):
        assert goptx.Graph.read(source) == GRAPH


def test_the_format_is_the_documented_one() -> None:
    node = described()["nodes"][0]
    text = scale("scale3")
    assert node == {
        "id": 0, "entry": "scale3", "grid": [2, 1, 1], "block": [128, 1, 1], "shared": 0,
        "parameters": [u64(buffer(0)).hex(), u64(buffer(1)).hex(), u32(N).hex()], "ptx": sha_of(text),
    }  # fmt: skip
    assert described()["edges"] == [[0, 1], [1, 2], [2, 3]]
    assert described()["allocations"][1] == {"address": buffer(1), "bytes": 1024}
    assert described()["ptx"] == {sha_of(text): text}


def test_short_forms_are_read() -> None:
    value = described()
    value["nodes"][0] |= {"grid": 2, "block": [128]}
    value["allocations"] = [{"address": hex(a["address"]), "bytes": a["bytes"]} for a in value["allocations"]]
    value["nodes"][2]["entry"] = "nvjet"
    assert goptx.Graph.read(value) == GRAPH


Change = Callable[[dict[str, Any]], object]
WRONG: dict[str, tuple[Change, str]] = {
    "no nodes": (lambda d: d.pop("nodes"), "`nodes` is missing; docs/graphs.md has the format"),
    "nodes null": (lambda d: d.update(nodes=None), "`nodes` is a list, not null"),
    "no edges": (lambda d: d.pop("edges"), "`edges` is missing"),
    "two of one id": (lambda d: d["nodes"][1].update(id=0), "two nodes 0"),
    "no id": (lambda d: d["nodes"][1].pop("id"), r"nodes\[1\]: a node is an object with `id`"),
    "an id that is true": (lambda d: d["nodes"][1].update(id=True), "an id is a number or a text"),
    "an edge to nowhere": (lambda d: d["edges"].append([0, 9]), "there is no 9"),
    "an edge of three": (lambda d: d["edges"].append([0, 1, 2]), "is not a pair of ids"),
    "a cycle": (lambda d: d["edges"].append([2, 0]), "a cycle through the nodes 0, 1, 2"),
    "a loop": (lambda d: d["edges"].append([1, 1]), "a cycle through the nodes 1"),
    "grid 0": (lambda d: d["nodes"][0].update(grid=[0, 1, 1]), "grid: .* not one to three numbers above 0"),
    "large block": (lambda d: d["nodes"][0].update(block=[2048, 1, 1]), "node 0: .*a CTA has at most 1024"),
    "shared": (lambda d: d["nodes"][0].update(shared=-1), "node 0: shared=-1"),
    "no hex": (lambda d: d["nodes"][0]["parameters"].__setitem__(0, "xyz"), "parameter 0 is the hexadecimal text"),
    "few parameters": (lambda d: d["nodes"][0]["parameters"].pop(), "takes parameters of 8, 8, 4 bytes.* 8, 8"),
    "no parameters": (lambda d: d["nodes"][0].pop("parameters"), "takes parameters of 8, 8, 4 bytes.* has none"),
    "a short parameter": (lambda d: d["nodes"][0]["parameters"].__setitem__(2, "00"), "and the node has 8, 8, 1"),
    "no such entry": (lambda d: d["nodes"][0].update(entry="other"), "no entry `other`"),
    "no entry": (lambda d: d["nodes"][0].update(entry=None), "`entry` is the name of its kernel"),
    "no text": (lambda d: d.update(ptx={}), "there is no text for its ptx"),
    "another text": (lambda d: d["ptx"].update({"0" * 64: "x"}), "has another SHA-256"),
    "a host node with PTX": (lambda d: d["nodes"][0].update(kind="host"), "node 0: a host node has no PTX; give null"),
    "a kind": (lambda d: d["nodes"][3].update(kind="child graph"), "kind 'child graph' is unknown"),
    "what a copy reads": (lambda d: d["nodes"][3].update(reads=[[1]]), "node 3: reads has pairs of an address and"),
    "what a copy writes": (lambda d: d["nodes"][3].update(writes=[[-1, 4]]), "node 3: writes is a number from 0 on"),
    "allocation": (
        lambda d: d["allocations"].append({"address": -1, "bytes": 4}),
        "address is a number from 0 on, not",
    ),
    "allocations": (lambda d: d.update(allocations=[[1, 2]]), r"allocations\[0\]: an allocation is an object"),
    "end of memory": (lambda d: d["allocations"].append({"address": 2**64 - 1, "bytes": 4}), "end beyond 64 bits"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_refused(name: str) -> None:
    change, message = WRONG[name]
    value = described()
    change(value)
    with pytest.raises(InputError, match=message):
        goptx.Graph.read(value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{", "the description: it is not JSON"),
        ("[1]", "a graph is an object"),
        ("none.json", "none.json: cannot be read"),
        (None, "an object of type NoneType is not a graph"),
        ("[" * 100_000, "nested too deeply|not JSON"),
    ],
)
def test_what_is_no_description_is_refused(source: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        goptx.Graph.read(source)


def test_text_that_is_not_ptx_is_refused() -> None:
    value = described()
    value["ptx"] = {sha_of("mov"): "mov"}
    for node in value["nodes"][:2]:
        node["ptx"] = sha_of("mov")
    with pytest.raises(PtxSyntaxError):
        goptx.Graph.read(value)
