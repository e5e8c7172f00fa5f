"""The committed notebooks: their outputs are those of their code, made on a GPU if it asks for one. .ci/notebooks.py
runs them."""

import ast
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "examples"
NAMES = (
    "coarsening", "divergence_barriers_refusals", "programs_as_graphs", "strategies_and_tuning", "tensor_beside_memory",
    "triton_kernels", "weave_two_kernels",
)  # fmt: skip
AWAITED: set[str] = set()  # whose outputs are those of the emulator until .ci/notebooks.py --write on a GPU


def test_names() -> None:
    assert tuple(sorted(path.stem for path in FOLDER.glob("*.ipynb"))) == NAMES


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def notebook(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return read


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    """.ci/notebooks.py."""
    spec = importlib.util.spec_from_file_location("run_notebooks", FOLDER.parent / ".ci" / "notebooks.py")
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_outputs_are_those_of_the_code_and_come_from_where_it_runs(
    name: str, notebook: dict[str, Any], runner: ModuleType
) -> None:
    run = notebook["metadata"]["goptx_run"]
    read = nbformat.reads(json.dumps(notebook), as_version=4)
    assert run["cells"] == runner.digest(read), "run .ci/notebooks.py --write on a GPU"
    assert ("NVIDIA" in run["gpu"]) == (name not in AWAITED) or not asks_for_a_gpu(notebook)


def asks_for_a_gpu(notebook: dict[str, Any]) -> bool:
    """Whether some outputs depend on where it runs: by examples/where.py, or by itself."""
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return bool(re.search(r"\b(where|gpu|GPU|cupy|torch|launch|tune)\b", "\n".join(code)))


def test_one_notebook_needs_no_gpu() -> None:
    read = {name: json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")) for name in NAMES}
    assert [name for name in NAMES if not asks_for_a_gpu(read[name])] == ["programs_as_graphs"]


def test_what_runs_without_a_gpu_alone_is_not_that_code(runner: ModuleType) -> None:
    rest = "a = 1\nif gpu:\n    a = 2\n    b = 3\n"
    other = "c = 4 if gpu else 5\nif a:\n    a = 6\nelse:\n    a = 7"
    assert runner.on_a_gpu(f"{rest}else:\n    b = 4\n    c = 6\n{other}") == f"{rest}{other}"
    assert runner.on_a_gpu(f"{rest}{other}") == f"{rest}{other}"


def test_notebooks_end_with_what_to_try_next(notebook: dict[str, Any]) -> None:
    last = notebook["cells"][-1]
    assert last["cell_type"] == "markdown" and "".join(last["source"]).startswith("## What to try next\n")
    links = re.findall(r"\]\(([^)#:]+)", "".join(last["source"]))
    assert links and all((FOLDER / link).exists() for link in links)


def test_outputs_are_all_there_and_no_errors(notebook: dict[str, Any]) -> None:
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert len(outputs) > len(code) / 2
    assert not [o for o in outputs if o["output_type"] == "error"]
    warned = ["".join(o["text"]) for o in outputs if o.get("name") == "stderr"]
    assert all(re.match(r"line \d+: ProbablySlower: ", text) for text in warned)


def test_outputs_name_no_path_of_the_machine(notebook: dict[str, Any]) -> None:
    outputs = json.dumps([cell.get("outputs", []) for cell in notebook["cells"]])
    assert not re.findall(r"/(?:tmp|home|root|usr|opt|work|mnt)/[\w.]+", outputs)


def functions(text: str) -> dict[str, str]:
    """The functions in the text, by name, without their places in it."""
    return {node.name: ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(
    ("notebook", "kernels"),
    [("triton_kernels", ("softmax", "noise")), ("tensor_beside_memory", ("product", "adam_step"))],
)
def test_triton_compiles_the_same_kernels_with_and_without_a_gpu(notebook: str, kernels: tuple[str, str]) -> None:
    cells = json.loads((FOLDER / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    (source,) = ("".join(cell["source"]) for cell in cells if f"def {kernels[0]}" in "".join(cell["source"]))
    without = functions((FOLDER / "triton_target.py").read_text(encoding="utf-8"))
    assert {name: text for name, text in functions(source).items() if name in without} == {
        name: without[name] for name in kernels
    }
