#!/usr/bin/env python3
"""Runs every code block of README.md, DOCUMENTS and examples/*/README.md, in a fresh environment and copy of the tree.

A block of shell begins with a command, or with `$ ` where its output stands below and is compared. Python's are run in
order, all of a document in one program, behind readme_context.py, which has what fragments take for granted. A comment
on the line before a block says what it lacks:

    <!-- shown -->           it is no program, but what one prints
    <!-- gpu -->             it runs where there is a GPU only
    <!-- needs: make c++ --> it runs where these are; `cuda.h` is of the CUDA toolkit

README's test command is not run here, since .ci/run calls it. Other documents to run can be given; --here runs them
with the goptx that is on the PATH, and makes no environment.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("docs/first_hour.md", "docs/guide.md")
SHELL = ("", "sh", "bash")
LIMIT = 240  # seconds of one block
MARK = re.compile(r"<!-- (shown|gpu|needs)(?:: *(.*?))? -->")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """`line` is that of its fence; `mark` and `said` are those of the comment before it."""

    document: str
    line: int
    language: str
    code: str
    mark: str
    said: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"

    def lacks(self, gpu: bool) -> str:
        """Why it cannot run here; "" if it can."""
        if self.mark == "gpu" and not gpu:
            return "no GPU"
        missing = [what for what in self.said.split() if not is_here(what)] if self.mark == "needs" else []
        return f"no {', '.join(missing)}" if missing else ""


def blocks(document: Path) -> Iterator[Block]:
    text = document.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        before = text[: found.start()].rstrip("\n").rpartition("\n")[2]
        mark = MARK.fullmatch(before)
        name = document.relative_to(ROOT).as_posix()
        line = text.count("\n", 0, found.start()) + 1
        yield Block(name, line, found[1], found[2], *((mark[1], mark[2] or "") if mark else ("", "")))


def is_here(what: str) -> bool:
    if what == "cuda.h":
        nvcc = shutil.which("nvcc")
        places = [Path("/usr/local/cuda/include"), *([Path(nvcc).parent.parent / "include"] if nvcc else [])]
        return any((place / what).exists() for place in places)
    return shutil.which(what) is not None or (Path(sys.prefix) / "bin" / what).exists()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", type=Path)
    parser.add_argument("--here", action="store_true")
    options = parser.parse_args()
    documents = options.documents or [
        ROOT / "README.md",
        *(ROOT / d for d in DOCUMENTS),
        *sorted(ROOT.glob("examples/*/README.md")),
    ]
    with tempfile.TemporaryDirectory(prefix="goptx-readme-") as name:
        folder = Path(name)
        tree = copied_tree(folder / "goptx")
        prepare(tree, folder, fresh=not options.here)
        gpu = has_gpu()
        failures = [failure for path in documents for failure in run_document(path.resolve(), tree, gpu, folder)]
    for failure in failures:
        print(f"FAILED {failure}")
    return 1 if failures else 0


def copied_tree(target: Path) -> Path:
    """What git has, or would have."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:  # an archive
        shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(".venv", "build", "__pycache__"))
    else:
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target / name)
    return target


def prepare(tree: Path, folder: Path, fresh: bool) -> None:
    """The environment of all blocks, which this process hands on."""
    os.environ["GOPTX_CACHE_DIR"] = str(folder / "cache")
    if fresh:
        os.environ.pop("PYTHONPATH", None)
        venv.create(folder / "env", with_pip=True)
        binaries = folder / "env" / "bin"
        os.environ["PATH"] = f"{binaries}{os.pathsep}{os.environ['PATH']}"
        wanted = [f"{tree}[gpu]", "hatchling>=1.26", *([] if shutil.which("cmake") else ["cmake", "ninja"])]
        subprocess.run([binaries / "python", "-m", "pip", "install", "-q", *wanted], check=True)
    if not shutil.which("ptxas"):  # for Makefiles to find; goptx finds that of the wheel by itself
        for path in (folder / "env").glob("lib/python*/site-packages/nvidia/cu13/bin/ptxas"):
            os.environ["PATH"] += f"{os.pathsep}{path.parent}"


def has_gpu() -> bool:
    done = subprocess.run(["goptx", "doctor", "--report=json"], capture_output=True, text=True, check=True)
    return any(f["what"] == "GPU" and f["found"] for f in json.loads(done.stdout)["findings"])


def run_document(path: Path, tree: Path, gpu: bool, folder: Path) -> Iterator[str]:
    """Yields what failed."""
    cwd = tree if path.parent in (ROOT, ROOT / "docs") else tree / path.parent.relative_to(ROOT)
    program: list[Block] = []
    for block in blocks(path):
        if block.mark == "shown":
            continue
        if why := block.lacks(gpu):
            print(f"skipped {block}: {why}")
        elif block.language == "python":
            program.append(block)
        elif block.language not in SHELL:
            yield f"{block}: a block of `{block.language}`, which nothing here runs"
        elif block.code.strip() in (ROOT / ".ci" / "run").read_text():
            print(f"skipped {block}: .ci/run calls it")
        elif block.code.startswith("$ "):
            yield from run_shown(block, cwd)
        else:
            yield from run(block, ["bash", "-euc", block.code], cwd)
    if program:
        yield from run(program[0], [python(), str(assembled(program, folder))], cwd)


def python() -> str:
    found = shutil.which("python") or shutil.which("python3")
    assert found
    return found


def assembled(program: Sequence[Block], folder: Path) -> Path:
    """One program of a document's blocks, which names the document and its lines where it fails."""
    parts = [(ROOT / ".ci" / "readme_context.py").read_text(encoding="utf-8")]
    for block in program:
        code = "\n" * block.line + block.code
        parts += [f"print('== {block}')", f"exec(compile({code!r}, {block.document!r}, 'exec'), globals())"]
    path = folder / "blocks.py"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def run(block: Block, command: Sequence[str], cwd: Path) -> Iterator[str]:
    """Yields what it said if it failed."""
    status, said = ended(block, command, cwd, subprocess.STDOUT)
    if status:
        yield f"{block}: exit status {status}\n{block.code}\n{said}"


def run_shown(block: Block, cwd: Path) -> Iterator[str]:
    """A command with what it prints, which is compared."""
    command, _, expected = block.code.removeprefix("$ ").partition("\n")
    status, said = ended(block, ["bash", "-euc", command], cwd, subprocess.DEVNULL)
    if (status, said) != (0, expected):
        yield f"{block}: exit status {status}, and it printed\n{said}"


def ended(block: Block, command: Sequence[str], cwd: Path, errors: int) -> tuple[int, str]:
    """Exit status and output."""
    started = time.monotonic()
    with subprocess.Popen(
        command, cwd=cwd, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=LIMIT)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # with all that it has started
            raise
    print(f"ran {block} in {time.monotonic() - started:.1f} s, exit status {process.returncode}", flush=True)
    return process.returncode, said


if __name__ == "__main__":
    sys.exit(main())
