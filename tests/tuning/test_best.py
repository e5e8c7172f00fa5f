"""The result of tuning is saved, and made again from the file."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from tuning.fake_bench import ARGS, PLUS, SHAPES, TIMES, AtOnce, FakeBench, Pretending, tuned

import goptx
from goptx import InputError, replay
from goptx.device.assemble import find_ptxas
from goptx.errors import CannotWeave, NotAsMeasured
from goptx.launch.shape import Shape
from goptx.results.given_kernels import kernels_of
from goptx.strategies.candidate import Candidate
from goptx.tuning.best import Best, Replay, digest
from goptx.tuning.making import Job, Made, fused
from goptx.tuning.trials import Table
from goptx.tuning.tune import tune

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")

CANDIDATES = [
    Candidate("weave", (2, 1), 40).having(policy="paper", slicing=None),
    Candidate("weave", (1, 1)).having(divergence="predicate"),
    Candidate("vertical", (2, 2)),
    Candidate("interleave", (1, 1)).having(ratio=(1, 2)),
    Candidate("horizontal", (1, 1), 32).having(partition=(128, 64)),
    Candidate("separate", (2, 1)),
    Candidate("separate", (1, 1)),
]


def found(candidate: Candidate, *sources: Any) -> Best:
    """A result of tuning with this candidate."""
    kernels = tuple(kernels_of(sources or [PLUS, TIMES]))
    job = Job(kernels, tuple(SHAPES), (True, False), candidate, "sm_90")
    made = fused(job)
    return Best(
        made.capped(candidate.cap) if candidate.cap else made,
        candidate,
        1.25,
        {"streams": 1.0},
        Table((), candidate),
        {},
        job,
    )


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "kernels"
    folder.mkdir()
    for name, text in (("plus", PLUS), ("times", TIMES)):
        (folder / f"{name}.ptx").write_text(text)
    return sorted(folder.iterdir())


@pytest.mark.parametrize("candidate", CANDIDATES, ids=str)
def test_made_again_as_it_was(candidate: Candidate, files: list[Path], tmp_path: Path) -> None:
    for sources in ([PLUS, TIMES], files):
        best = found(candidate, *sources)
        best.save(tmp_path / "best.json")
        again = replay(tmp_path / "best.json")
        assert (again.ptx, again.strategy, again.shape) == (best.fused.ptx, best.fused.strategy, best.fused.shape)
        assert Replay.read(tmp_path / "best.json").candidate == candidate
        assert again.max_registers == candidate.cap


@pytest.mark.slow
@needs_ptxas
def test_of_what_tune_found(files: list[Path], tmp_path: Path) -> None:
    how: dict[str, Any] = {"shapes": SHAPES, "args": ARGS, "executor": AtOnce(), "progress": False}
    best = tune(*files, benches=[FakeBench({"vertical x2 x1": 0.5})], strategies=["vertical"], **how)
    best.save(tmp_path / "best.json")
    assert replay(tmp_path / "best.json").ptx == best.fused.ptx
    assert str(best.candidate) == "vertical x2 x1"


@pytest.mark.slow
@needs_ptxas
def test_a_cap_that_is_the_best_stands_in_the_ptx(tmp_path: Path) -> None:
    spec = [KERNELS / "histogram.toml", KERNELS / "gemm.toml"]

    class Executor(Pretending):  # two candidates are enough
        def done(self, make: Callable[[Job], Made], job: Job) -> Made:
            return make(job) if job.candidate.plain and not job.candidate.options else super().done(make, job)

    bench = FakeBench(otherwise=lambda key: 0.5 if "capped" in key else 3.0)
    best = tune(spec=spec, executor=Executor(), benches=[bench], strategies=["vertical", "weave"], progress=False)
    assert best.candidate.cap and best.candidate.plain
    assert f".maxnreg {best.candidate.cap}" in best.fused.ptx and best.fused.max_registers == best.candidate.cap
    assert best.fused.resources().registers <= best.candidate.cap
    best.save(tmp_path / "best.json")
    assert replay(tmp_path / "best.json").ptx == best.fused.ptx


def test_other_code_than_was_measured(files: list[Path], tmp_path: Path) -> None:
    """As another version of goptx may make."""
    best, path = found(Candidate("vertical", (1, 1)), *files), tmp_path / "best.json"
    best.save(path)
    held = json.loads(path.read_text())
    path.write_text(json.dumps({**held, "ptx": "0" * 64}))
    with pytest.warns(NotAsMeasured, match=r"best\.json: `plus_times_woven` has other code than .* tune it again\."):
        assert replay(path).ptx == best.fused.ptx
    done = run("replay", "best.json", "-o", "out.ptx", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr.startswith("warning: best.json: `plus_times_woven` has other code")
    path.write_text(json.dumps({k: v for k, v in held.items() if k != "ptx"}))
    replay(path)  # written by an earlier version: not known


def test_moved_together_with_its_kernels(files: list[Path], tmp_path: Path) -> None:
    best = found(CANDIDATES[0], *files)
    best.save(files[0].parent / "best.json")
    assert json.loads((files[0].parent / "best.json").read_text())["kernels"][0]["file"] == "plus.ptx"
    shutil.move(files[0].parent, tmp_path / "elsewhere")
    assert replay(tmp_path / "elsewhere" / "best.json").ptx == best.fused.ptx
    shutil.move(tmp_path / "elsewhere" / "best.json", tmp_path / "best.json")
    with pytest.raises(InputError, match=r"plus\.ptx: cannot be read"):
        replay(tmp_path / "best.json")
    moved = [tmp_path / "elsewhere" / file.name for file in files]
    assert replay(tmp_path / "best.json", *moved).ptx == best.fused.ptx
    assert replay(tmp_path / "best.json", PLUS, TIMES).ptx == best.fused.ptx


def test_saved_beside_another_folder(files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path)
    best = found(CANDIDATES[0], *(file.relative_to(tmp_path) for file in files))
    best.save("results/best.json")
    assert json.loads(Path("results/best.json").read_text())["kernels"][1]["file"] == "../kernels/times.ptx"
    monkeypatch.chdir(tmp_path.parent)
    assert replay(tmp_path / "results" / "best.json").ptx == best.fused.ptx


def test_a_kernel_that_was_changed(files: list[Path], tmp_path: Path) -> None:
    found(CANDIDATES[0], *files).save(tmp_path / "best.json")
    files[1].write_text(f"// a comment\n{TIMES}".replace("ret;", "ret ; /* another */"))
    assert replay(tmp_path / "best.json").ptx
    files[1].write_text(TIMES.replace("mul.lo", "add"))
    with pytest.raises(
        InputError, match=r"times\.ptx: `times` is not the kernel that was tuned \(.*best\.json\); tune"
    ):
        replay(tmp_path / "best.json")
    with pytest.raises(InputError, match="`times` is not the kernel that was tuned"):
        replay(tmp_path / "best.json", TIMES, PLUS)
    with pytest.raises(InputError, match=r"best\.json: 2 kernels were tuned, not 1\."):
        replay(tmp_path / "best.json", PLUS)


def test_digests_of_kernels(files: list[Path]) -> None:
    of_text, of_file = (digest(kernels_of([source], least=1)[0]) for source in (PLUS, files[0]))
    assert of_text == of_file
    two = PLUS + TIMES.split(".address_size 64\n")[1]
    one, other = (digest(kernels_of([two], [name], least=1)[0]) for name in ("plus", "times"))
    assert one != other != of_text


def test_as_a_part_of_something_else(files: list[Path], tmp_path: Path) -> None:
    best = found(CANDIDATES[0], *files)
    assert Replay(tmp_path / "results.json", json.loads(json.dumps(best.to_dict()))).made().ptx == best.fused.ptx
    held = best.to_dict(tmp_path)
    assert Replay(tmp_path / "results.json", held).made().ptx == best.fused.ptx
    assert (held["name"], held["speedup"]) == ("weave x2 x1 policy=paper slicing=None capped at 40", 1.25)
    assert held["shapes"][0] == {"grid": (4,), "block": (64,), "shared": 0, "cluster": None}


def test_shapes_are_stored(tmp_path: Path) -> None:
    best = found(CANDIDATES[1])
    shaped = Shape((4, 2), (8, 8), 64)
    job = Job(best.job.kernels, (shaped, SHAPES[1]), (False, False), best.candidate, "sm_80")
    Best(best.fused, best.candidate, 1.0, {}, best.table, {}, job).save(tmp_path / "best.json")
    assert Replay.read(tmp_path / "best.json").job() == job


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"not JSON: Expecting property name .*; give a file that `goptx tune -o` wrote\."),
        ("[]", r"not a result of tuning \(format 1\); write it with `goptx tune -o`"),
        ('{"format": 2}', "not a result of tuning"),
        ('{"format": 1, "kernels": [], "seed": 0}', "not a result of tuning"),  # the first line of records
        ("\xff", "not JSON"),
    ],
)
def test_files_that_are_something_else(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "best.json").write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=rf"best\.json: {message}"):
        replay(tmp_path / "best.json")


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: cannot be read \(No such file or directory\)"):
        replay(tmp_path / "none.json")
    with pytest.raises(InputError, match=r"cannot be written .*; give a folder that exists"):
        found(CANDIDATES[0]).save(tmp_path / "none" / "best.json")


def test_what_the_strategy_refuses_now(tmp_path: Path) -> None:
    """Another version of goptx may refuse what the version that wrote the file accepted."""
    spinning = PLUS.replace("ret;", "L: ld.volatile.global.u32 %r2, [%rd4]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L; ret;")
    best = found(CANDIDATES[2], PLUS, TIMES)
    best.save(tmp_path / "best.json")
    held = json.loads((tmp_path / "best.json").read_text())
    (kernel,) = kernels_of([spinning], least=1)
    held["kernels"][0].update(ptx=str(kernel.module), digest=digest(kernel))
    (tmp_path / "best.json").write_text(json.dumps(held))
    with pytest.raises(CannotWeave):
        replay(tmp_path / "best.json")


def test_public_names() -> None:
    assert (goptx.replay, goptx.tune) == (replay, tune)
    assert isinstance(tuned(FakeBench()), Best)
