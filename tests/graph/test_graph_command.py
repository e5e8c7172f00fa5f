"""`goptx graph`."""

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from command_line import run
from graph.graph_kernels import added, chain, opaque, scaled

import goptx

GRAPH = chain(scaled("k", 0, 1), scaled("v", 0, 2), added("s", 1, 2, 3), opaque("gemm"))
PICTURE = """a graph of 4 nodes, 3 with PTX, and 3 edges
    1  k `scale3` 2:128  at once  [group 1]
       v `scale3` 2:128  at once  [group 1]
    2  s `add` 2:128  after k, v
    3  gemm `nvjet` (kernel, no PTX)  after s
group 1: k, v
"""


def drawn(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run("graph", *arguments, cwd=Path(__file__).parent)


@pytest.fixture
def file(tmp_path: Path) -> str:
    GRAPH.save(tmp_path / "graph.json")
    return str(tmp_path / "graph.json")


def test_it_shows_a_graph_as_text(file: str) -> None:
    done = drawn(file)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", PICTURE)


def test_it_shows_a_graph_as_a_picture(file: str) -> None:
    done = drawn(file, "--svg")
    root = ElementTree.fromstring(done.stdout)
    titles = [e.text for e in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[1:] == ["k `scale3`", "v `scale3`", "s `add`", "gemm `nvjet` (kernel, no PTX)"]
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == 3


def test_json_adds_dependences_and_groups(file: str) -> None:
    value = json.loads(drawn(file, "--json").stdout)
    assert value.pop("dependences") == [["k", "s"], ["v", "s"], ["s", "gemm"]]
    assert value.pop("groups") == [["k", "v"]]
    assert value == json.loads(Path(file).read_text())


def test_it_writes_the_parallel_graph(file: str, tmp_path: Path) -> None:
    out = tmp_path / "parallel.json"
    assert drawn(file, "--parallel", "-o", str(out)).stdout == ""
    assert goptx.Graph.read(out) == goptx.parallelize_graph(GRAPH)


def test_it_writes_the_graph_with_fused_kernels(file: str) -> None:
    done = drawn(file, "--fused")
    assert goptx.Graph.read(done.stdout) == goptx.optimize_graph(GRAPH).graph
    assert done.stderr.startswith("4 nodes, 3 with PTX; 3 dependences; 1 groups independent, 1 fused")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "InputError: none.json: cannot be read"),
        (["FILE", "-o", "FILE"], "InputError: FILE: an input, which would be overwritten; give another file."),
        (["/dev/zero"], "InputError: /dev/zero: has more than 64 MiB; give the path of a graph description."),
        (["FILE", "--svg", "--json"], "InputError: give one of --svg, --json, --parallel and --fused"),
        (["FILE", "--trust", "all"], "InputError: argument --trust: invalid choice"),
    ],
)
def test_wrong_use_is_refused(file: str, arguments: list[str], message: str) -> None:
    before = Path(file).read_bytes()
    done = drawn(*(file if a == "FILE" else a for a in arguments))
    assert done.returncode == 2
    assert done.stderr.startswith(message.replace("FILE", file))
    assert Path(file).read_bytes() == before
