"""Runs the kernels of jobs under compute-sanitizer, alone and woven, and counts what it finds by kernel.

    compute-sanitizer --tool TOOL python sanitizer.py JOBS alone|woven

is the child's part: it launches each kernel once, its arrays in memory of their own. Requires a GPU, CuPy and
compute-sanitizer.
"""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from pairs.job import Job
from pairs.launching import launched

TOOLS = ("memcheck", "racecheck", "synccheck")
OPTIONS = ("--print-limit", "100000", "--destroy-on-device-error", "kernel")  # later kernels are launched in any case
LIMIT = 280  # seconds for one tool on all kernels alone, or woven
HEADLINE = re.compile(r"=========( Error:| Warning:)? (?P<text>\S.*)")
NO_FINDING = re.compile(r"COMPUTE-SANITIZER|SUMMARY|Target application|No kernel|print limit|Please check", re.I)


def sanitized(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """For each tool what it finds in kernels alone and woven, and the pairs with a kind of finding in the woven kernel
    that neither of its kernels has."""
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    rows = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "jobs"
        path.write_bytes(pickle.dumps(list(jobs)))
        for tool in TOOLS:
            found, problems = {}, []
            for how in ("alone", "woven"):
                log, problem = _run([program, "--tool", tool, *OPTIONS, sys.executable, __file__], path, how)
                found[how] = findings(log, [part.entry for job in jobs for part in job.parts])
                launched_ones = log.count("LAUNCHED ")
                if problem or launched_ones != len(jobs):
                    problems.append(f"{how}: {launched_ones} pairs launched. {problem} {log[-1500:]}")
            rows.append({
                "tool": tool,
                "pairs": len(jobs),
                "alone": sum(sum(kinds.values()) for kinds in found["alone"].values()),
                "woven": sum(sum(kinds.values()) for kinds in found["woven"].values()),
                "new": {job.name: kinds for job in jobs if (kinds := new_findings(job, found))},
                "problem": "; ".join(problems),
            })  # fmt: skip
    return rows


def new_findings(job: Job, found: dict[str, dict[str, Counter[str]]]) -> list[str]:
    """Kinds of findings in the woven kernel that its kernels do not have; what names no kernel may be anybody's."""
    made = {number for number, _ in job.together}
    alone = [part.entry for number, part in enumerate(job.parts) if number not in made]
    new = {kind for entry in (*(job.parts[n].entry for n in made), "") for kind in found["woven"].get(entry, ())}
    return sorted(new.difference(*(found["alone"].get(entry, ()) for entry in (*alone, ""))))


def findings(log: str, entries: Sequence[str]) -> dict[str, Counter[str]]:
    """By kernel, how often the tool says what; numbers in what it says are left out. "" has what names no kernel."""
    names = re.compile("|".join(rf"\b{name}\b" for name in sorted(entries, key=len, reverse=True)))
    found: dict[str, Counter[str]] = {}
    kind, entry = "", ""
    for line in [*log.splitlines(), "========= end"]:
        headline = HEADLINE.match(line)
        if headline:
            if kind:
                found.setdefault(entry, Counter())[kind] += 1
            text = headline["text"]
            kind, entry = "" if NO_FINDING.search(text) else re.sub(r"0x[0-9a-f]+|\d+", "#", names.sub("", text)), ""
        if kind and (name := names.search(line)) and not entry:
            entry = name[0]
    return found


def _run(command: Sequence[str], jobs: Path, how: str) -> tuple[str, str]:
    try:
        done = subprocess.run([*command, str(jobs), how], capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode(), f"no end within {LIMIT} s"
    except OSError as error:
        return "", str(error)
    return done.stdout + done.stderr, ""


def main(path: Path, how: str) -> None:
    import cupy as cp

    cp.cuda.set_allocator(None)  # no pool: an access past the end of an array has to be seen
    for job in pickle.loads(path.read_bytes()):
        launched(job, woven=how == "woven")
        print("LAUNCHED", job.name, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
