"""benchmarks/proofs.py proves pairs of every kind, and stores what came of each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_HYPOTHESIS = (
    "import runpy, sys; sys.modules['hypothesis'] = None; del sys.argv[0]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    how = [] if "--draw" in arguments else ["-c", WITHOUT_HYPOTHESIS]
    command = [sys.executable, *how, str(ROOT / "benchmarks" / "proofs.py"), *arguments]
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'benchmarks'}", "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.slow
def test_results_are_stored(tmp_path: Path) -> None:
    random = tmp_path / "random"
    assert run("--draw", "3", "--random", str(random)).returncode == 0
    assert len([*random.glob("*.ptx")]) == 3
    chosen = (
        "--pair",
        "harris+lud,straight+straight,batchnorm+hist,softmax+softmax,bit_field,carries*,100000_*",
        "--way",
        "weave",
    )
    done = run("--random", str(random), *chosen, "--jobs", "2", "-o", str(tmp_path))
    assert done.returncode in (0, 1), done.stderr
    (path,) = tmp_path.glob("*-cpu-proofs.json")
    document = json.loads(path.read_text())
    rows = {(row["group"], row["pair"]): row for row in document["rows"]}
    assert rows["examples", "harris+lud"]["proved"] and rows["examples", "harris+lud"]["prove_s"] >= 0
    assert {group for group, _ in rows} >= {"examples", "constructs", "suite B", "suite C", "regressions", "random"}
    assert all(not row.get("fault") for row in rows.values())
    for one in document["summary"]:
        own = [row for row in rows.values() if row["group"] == one["group"]]
        assert one["pairs"] == len(own) and one["proved"] == sum(row.get("proved", False) for row in own)
    assert "| examples | weave |" in path.with_suffix(".md").read_text()


@pytest.mark.slow
def test_what_takes_too_long_is_a_fault() -> None:
    done = run("--group", "suite B", "--pair", "batchnorm*", "--way", "weave", "--jobs", "2", "--limit", "0.01")
    assert done.returncode == 1
    assert "takes more than N.N s" in done.stdout
