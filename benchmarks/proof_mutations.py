"""Whether the checker refuses what a broken weaver makes: the mutations of tests/mutations, judged by it alone.

    python benchmarks/proof_mutations.py [--jobs N] [--seconds LIMIT] [-o FILE.json] [PATTERN ...]

For each mutation its named test, and tests that fuse the constructs, run in a copy of the sources, as they are and with
the mutation; what they fuse is stored. The checker of this checkout, which does not know the mutation, judges the
texts that the mutation changed. A mutation is

* rejected, if one of these is not proved, and what stood in its place before, if anything, is;
* believed, if all of them are proved: the named test fails, so each has to be read;
* of no effect, if it is believed, and changes what a fused kernel costs or refuses, not what it does (NO_EFFECT);
* out of reach, if no text changes, or none of them was proved before: the checker has no rules for them, or the
  mutation concerns checks of launches, refusals or reports.

Patterns choose mutations by rule, file or test. With -o, what is done is stored after each mutation, and a run with
the same file goes on where it was stopped; a table is written beside it. All take an hour of one core. Exit code 1 if
any is believed.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

import host  # noqa: E402 - found by the line above
from mutations.every import MUTATIONS  # noqa: E402
from mutations.mutations import Mutation  # noqa: E402
from mutations.run import Copy  # noqa: E402
from proving.judging import TooLong, within  # noqa: E402

from goptx.errors import GoptxError  # noqa: E402
from goptx.proof.prove import prove_text  # noqa: E402
from goptx.ptx.ir import Module  # noqa: E402

LIMIT, PROVING = 120.0, 20.0  # seconds: of a run of tests, of a proof
ALSO = ("tests/emulator/test_constructs.py::test_woven_pairs",)
REJECTED, BELIEVED, UNCHANGED, WITHOUT = "rejected", "believed", "no text changes", "no rules for its texts"
NOT_READ = ("has no rules for", "(reading")  # in a gap: the checker does not know such code, broken or not
HARMLESS = "of no effect"
NO_EFFECT = {
    "the looser of two launch bounds holds": "no launch that the kernels allow is lost, and none gives another result: "
    "the assembler may only give other registers",
    # read in November 2026: the texts that change do what they did
    "static shared memory is added up without alignment": "a text is made that has more than an assembler takes",
    "which lanes end is read after the arm that may change it": "in the constructs no arm changes it",
    "a warp that has ended skips barriers of the CTA": "all warps come to as many barriers of one number",
    "a vote of some lanes counts as uniform": "the votes in the constructs are of all lanes",
    "`.uni` counts for the whole CTA": "barriers are aligned where whole warps come to them",
    "the mean block latency counts a block that is not in the text": "the order of independent instructions",
    "pairs of blocks part carry chains": "nothing between writes the carry flag",
    "what is larger than its limits is taken": "the text is larger",
    "of two kernels on different levels the one that lies deeper waits": "blocks are paired in another order",
    "copies of a loop's blocks lead into the loop": "loops have two entries, which the assembler may compile worse",
    "loops with two entries are left": "loops have two entries, which the assembler may compile worse",
    "kernels that run as they are keep irreducible loops": "as before: loops have two entries",
    "two kernels use one barrier id": "all threads come to these barriers in one order",
    "barriers that warps reach in two copies stay aligned": "whole warps come to each copy",
    "barriers that are one are separated": "one barrier serves two kernels, all of whose threads come to it",
    "addresses by SM are placed": "on which SM a CTA runs may be anything in the kernel, too",
    "without shapes a kernel counts the shared memory of all": "the kernel does not use the number",
    "copies of a barrier stay aligned": "they are aligned in the kernel, on two sides of its branch",
    "barriers stay aligned beside lanes that wait one by one": "whole warps come to them, before lanes part",
    "files of the second module keep their numbers": "lines of the source, for debuggers",
    "what goptx inserts seems to come from the line before it": "lines of the source, for debuggers",
    "an inlined location stands without that of its caller": "lines of the source, for debuggers",
    "an inlined function leaves its line to what stands after it": "lines of the source, for debuggers",
    "a tunable block changes along its first axis": "the certificate names the block that the text has",
    "lanes that a kernel lacks make it another one": "they come along to its barriers, as lanes do that have ended",
    "the fewest CTAs of an SM stay for larger CTAs": "the assembler may only give other registers, or none",
    "addresses by SM are coarsened": "on which SM a CTA runs may be anything in the kernel, too",
    "a kernel is coarsened along two axes": "the text is coarsened along one, which the certificate names",
    "barriers hand on nothing that was acquired": "the other kernel's fence, before its load: the kernel that has the "
    "barrier acquires nothing itself",
    "no acquire lies on a way around a loop": "the fence is the other kernel's, after its load; the kernel that takes "
    "the value acquires nothing",
    "kernels that acquire take what was loaded before": "the fence is the other kernel's, before its load",
    "carry chains hand on what they load": "a move does not write the carry flag",
    "a carry flag may live over the end of a block": "nothing between writes it, and the guard is that of the branch",
    "warps run long code of a kernel that they have ended": "warps skip less, guards stay",
    "copies of a kernel skip long code each by itself": "more branches, each by its own vote",
    "warps run what comes after the last barrier of a kernel that they have ended": "warps skip less, guards stay",
    "warps that wait at barriers run all code between them": "warps skip less, guards stay",
    "groups are measured after the budget is spent": "more is measured",
}
Text = tuple[str, Sequence[Module]]


@dataclass(frozen=True, slots=True)
class Result:
    """`why` is the rule and the message by which a text is not proved."""

    rule: str
    test: str
    outcome: str
    changed: int = 0
    refused: int = 0
    why: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--alone", action="store_true", help="only the named tests")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no more is waited for")
    parser.add_argument("-o", "--output", type=Path, help="file of results, JSON")
    options = parser.parse_args()
    chosen = [m for m in MUTATIONS if not options.patterns or _is_chosen(m, options.patterns)]
    also = () if options.alone else ALSO
    found = stored(options.output)
    begin = time.monotonic()
    todo = [m for m in chosen if m.rule not in found]
    for result in results(todo, also, options.jobs, begin + options.seconds):
        found[result.rule] = result
        counts = f"{result.changed} texts, {result.refused} refused"
        print(f"{result.outcome}: {result.rule} ({counts}) {result.why}"[:300], flush=True)
        if options.output:
            write(options.output, found)
    print(summary(found.values()))
    return 1 if any(r.outcome == BELIEVED for r in found.values()) else 0


def results(todo: Sequence[Mutation], also: Sequence[str], jobs: int, end: float) -> Iterator[Result]:
    """In the order in which they are done, until the clock shows `end`."""
    with multiprocessing.get_context("fork").Pool(jobs, _begin, (also,)) as pool:
        found = pool.imap_unordered(_judged, todo)
        for _ in todo:
            left = max(end - time.monotonic(), 0.1)
            try:
                yield found.next(timeout=None if math.isinf(left) else left)
            except multiprocessing.TimeoutError:
                return


def _is_chosen(mutation: Mutation, patterns: Sequence[str]) -> bool:
    return any(fnmatch(t, p) for t in (mutation.rule, mutation.file, mutation.test) for p in patterns)


# in each process ------------------------------------------------------------------------------------------

_copies: list[Copy] = []
_folders: list[tempfile.TemporaryDirectory[str]] = []
_also: list[str] = []
_unbroken: dict[str, dict[str, Text]] = {}


def _begin(also: Sequence[str]) -> None:
    _folders.append(tempfile.TemporaryDirectory(prefix="goptx-mutations-"))
    _copies[:] = [Copy(Path(_folders[0].name).resolve())]
    _also[:] = also


def _judged(mutation: Mutation) -> Result:
    copy = _copies[0]
    tests = [mutation.test, *_also]
    before = {text: one for test in tests for text, one in _fused(copy, test).items()}
    path = copy.folder / mutation.file
    text = path.read_text()
    state = path.stat()
    try:
        path.write_text(text.replace(mutation.before, mutation.after))
        os.utime(path, (state.st_atime, state.st_mtime + 2))
        after = {t: one for test in tests for t, one in _captured(copy, test).items()}
    finally:
        path.write_text(text)
        os.utime(path, (state.st_atime, state.st_mtime))
    changed = [one for t, one in after.items() if t not in before]
    if not changed:
        return Result(mutation.rule, mutation.test, UNCHANGED)
    known: dict[str, list[Text]] = {}
    for one in before.values():
        known.setdefault(_kernels(one), []).append(one)
    judged = [one for one in changed if not known.get(_kernels(one)) or any(not _gap(b) for b in known[_kernels(one)])]
    judged = [one for one in judged if not any(words in _gap(one) for words in NOT_READ)]
    gaps = [gap for gap in map(_gap, judged) if gap]
    reason = NO_EFFECT.get(mutation.rule, "")
    believed = HARMLESS if reason else BELIEVED
    outcome = REJECTED if gaps else believed if judged else WITHOUT
    return Result(mutation.rule, mutation.test, outcome, len(judged), len(gaps), gaps[0] if gaps else reason)


def _kernels(one: Text) -> str:
    return "\n".join(map(str, one[1]))


def _fused(copy: Copy, test: str) -> dict[str, Text]:
    if test not in _unbroken:
        _unbroken[test] = _captured(copy, test)
    return _unbroken[test]


def _captured(copy: Copy, test: str) -> dict[str, Text]:
    """What is fused while a test runs in the copy, by its text."""
    file = copy.folder / "captured"
    file.unlink(missing_ok=True)
    environment = os.environ | {
        "PYTHONPATH": f"{copy.folder}:{copy.folder / 'benchmarks'}:{copy.folder / 'tests'}",
        "GOPTX_CAPTURED": str(file), "GOPTX_CHECK_PASSES": "0", "GOPTX_CACHE_SIZE": "0",
    }  # fmt: skip
    command = [sys.executable, "-B", "-m", "pytest", "-q", "--tb=no", "-m", "", "-p", "no:cacheprovider",
               "-p", "proving.capture", f"--basetemp={copy.folder / 'tmp'}", test]  # fmt: skip
    try:
        subprocess.run(command, cwd=copy.folder, env=environment, stdout=subprocess.DEVNULL, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {}
    rows: list[Text] = pickle.loads(file.read_bytes()) if file.exists() else []
    return {text: (text, modules) for text, modules in rows}


_gaps: dict[str, str] = {}


def _gap(one: Text) -> str:
    """Why a text is not proved, "" if it is."""
    if one[0] not in _gaps:
        try:
            with within(PROVING):
                made = prove_text(*one)
            _gaps[one[0]] = "" if made else str(made.gaps[0])
        except (GoptxError, TooLong) as error:
            _gaps[one[0]] = f"{type(error).__name__}: {error}"
    return _gaps[one[0]]


# results --------------------------------------------------------------------------------------------------


def stored(path: Path | None) -> dict[str, Result]:
    """The results of an earlier run, by rule."""
    if path is None or not path.exists():
        return {}
    return {row["rule"]: Result(**row) for row in json.loads(path.read_text())["rows"]}


def write(path: Path, found: Mapping[str, Result]) -> None:
    rows = [found[m.rule] for m in MUTATIONS if m.rule in found]
    document = {
        "suite": "mutations of the weaver", "commit": host.commit(), "cpu": host.processor(),
        "rows": [asdict(row) for row in rows],
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(".part")  # so that a run that is ended leaves a whole file
    whole.write_text(json.dumps(document, indent=1) + "\n")
    whole.replace(path)
    path.with_suffix(".md").write_text(table(rows))


def summary(found: Collection[Result]) -> str:
    counts = Counter(r.outcome for r in found)
    return f"{len(found)} mutations: {', '.join(f'{n} {what}' for what, n in counts.most_common())}."


def table(found: Sequence[Result]) -> str:
    rows = [f"| {r.rule} | {r.outcome} | {r.changed} | {r.refused} | {r.why[:120].replace('|', '/')} |" for r in found]
    return "\n".join([
        "# Mutations of the weaver, and what the checker makes of them", "", summary(found), "",
        "| mutation | outcome | texts changed | refused | why |", "|---|---|---|---|---|", *rows, "",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
