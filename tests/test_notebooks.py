"""The committed notebooks: their outputs are those of their cells, made on a GPU. .ci/notebooks.py runs them."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
NAMES = (
    "coarsening", "divergence_barriers_refusals", "strategies_and_tuning", "triton_kernels", "weave_two_kernels",
)  # fmt: skip


def test_names() -> None:
    assert tuple(sorted(path.stem for path in FOLDER.glob("*.ipynb"))) == NAMES


@pytest.fixture(params=NAMES)
def notebook(request: pytest.FixtureRequest) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / f"{request.param}.ipynb").read_text(encoding="utf-8"))
    return read


def test_outputs_are_those_of_the_cells_and_come_from_a_gpu(notebook: dict[str, Any]) -> None:
    cells = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    run = notebook["metadata"]["goptx_run"]
    assert run["cells"] == hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16], "run .ci/notebooks.py --write"
    assert "NVIDIA" in run["gpu"]


def test_outputs_are_all_there_and_no_errors(notebook: dict[str, Any]) -> None:
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert len(outputs) > len(code) / 2
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]


def test_outputs_name_no_path_of_the_machine(notebook: dict[str, Any]) -> None:
    outputs = json.dumps([cell.get("outputs", []) for cell in notebook["cells"]])
    assert not re.findall(r"/(?:tmp|home|root|usr|opt|work|mnt)/[\w.]+", outputs)
