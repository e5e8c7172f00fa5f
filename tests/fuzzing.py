#!/usr/bin/env python3
"""Damages kernels at random, and looks whether goptx gives a result or refuses, within limits.

    python tests/fuzzing.py [--cases 2000] [--seed 0] [--stop SECONDS]

Each case is a text of the tests with a few edits of bytes, words, lines or numbers, and one thing done with it: read
and print, weave with another kernel, coarsen, check or prove that, or the command line. Whatever comes of it but a
result or a `GoptxError`, in at most `SECONDS` of processor time and `MEMORY` bytes, is printed, and the text that led
to it is written to caseSEED_NUMBER.ptx.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from command_line import run  # noqa: E402

import goptx  # noqa: E402

SECONDS = 20.0
MEMORY = 3 << 30  # bytes of address space
LONGEST = 12_000  # bytes of a text that is damaged
PLACES = ("corpus/old/*.ptx", "corpus/ptx/*.ptx", "constructs/*.ptx", "isa/*.ptx", "../examples/kernels/*.ptx")
OTHER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry other(.param .u64 p)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<3>;
    .reg .pred %p<2>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 7;
    @%p1 bra END;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r1;
END:
    bar.sync 0;
    ret;
}
"""
WORDS = """
{ } ( ) [ ] , ; : @ ! + - . < > % | = " // /* */ @@DWARF .reg .param .func .entry .global .shared .const
.local .align .section .file .loc .pragma .extern .visible .weak .version .target .address_size .maxntid
.reqntid .minnctapersm .branchtargets .calltargets .callprototype .noreturn .v2 .v4 .pred .u8 .u32 .s64 .b128
.f16 .f32 .f64 .texref ret; exit; trap; bar.sync bar.arrive barrier.sync bra call brx.idx vote.sync.any.pred
shfl.sync.idx.b32 activemask.b32 atom.global.add.u32 ld.global.u32 st.global.u32 setp.ne.s32 selp.b32 mov.u32
mad.lo.s32 cvt.rn.f32.s32 add.cc.u32 addc.u32 wgmma.fence.sync.aligned cp.async.wait_all mbarrier.try_wait.b64
setmaxnreg.inc.sync.aligned.u32 griddepcontrol.wait %tid.x %ctaid.x %ntid.x %laneid %r1 %rd1 %p1 %f1 WARP_SZ 0
1 -1 4294967295 99999999999999999999 0x 0f7FC00000 08 1e9 <1000000000> \x00 \xff \t
""".split()


@dataclass(frozen=True)
class Failure:
    """What is neither a result nor a refusal."""

    action: str
    problem: str
    text: bytes


class _TooLong(Exception):
    pass


@cache
def texts() -> tuple[bytes, ...]:
    """The texts to damage, short ones, in the same order everywhere."""
    paths = sorted(path for place in PLACES for path in HERE.glob(place))
    found = [path.read_bytes() for path in paths if path.stat().st_size <= LONGEST]
    assert len(found) > 30
    return (OTHER.encode(), *found)


def damaged(text: bytes, random: Random) -> bytes:
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        text = random.choice(EDITS)(text, random)
    return text


def _bytes(text: bytes, random: Random) -> bytes:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice((b"", bytes([random.randrange(256)]))) + text[at + random.randrange(3) :]


def _word(text: bytes, random: Random) -> bytes:
    pieces = text.split(b" ")
    at = random.randrange(len(pieces))
    word = random.choice(WORDS).encode("latin-1")
    pieces[at : at + random.randrange(2)] = [word]
    return b" ".join(pieces)


def _lines(text: bytes, random: Random) -> bytes:
    lines = text.split(b"\n")
    begin, target = random.randrange(len(lines)), random.randrange(len(lines))
    piece = lines[begin : begin + random.choice((1, 1, 2, 5, 20))]
    match random.randrange(4):
        case 0:
            del lines[begin : begin + len(piece)]
        case 1:
            lines[target:target] = piece
        case 2:
            lines[begin : begin + len(piece)] = reversed(piece)
        case _:
            lines[target:target] = piece * random.choice((2, 10, 100))
    return b"\n".join(lines)


def _swap(text: bytes, random: Random) -> bytes:
    """One word put in the place of another."""
    words = text.split(b" ")
    words[random.randrange(len(words))] = random.choice(words)
    return b" ".join(words)


def _number(text: bytes, random: Random) -> bytes:
    digits = [i for i in range(len(text)) if text[i : i + 1].isdigit()]
    if not digits:
        return text
    at = random.choice(digits)
    number = random.choice((b"0", b"1", b"2", b"15", b"16", b"31", b"32", b"4096", b"65536", b"4294967296", b"-1"))
    return text[:at] + number + text[at + 1 :]


def _mix(text: bytes, random: Random) -> bytes:
    """The beginning of one text and the end of another."""
    other = random.choice(texts())
    return text[: random.randrange(len(text) + 1)] + other[random.randrange(len(other)) :]


EDITS: Sequence[Callable[[bytes, Random], bytes]] = (_bytes, _word, _word, _lines, _lines, _swap, _swap, _number, _mix)


def _read(text: bytes) -> None:
    module = goptx.read(text)
    assert str(goptx.read(str(module))) == str(module), "printed text reads as another module"


def _weave(text: bytes) -> None:
    _read(goptx.weave(text, OTHER, arch="sm_90").ptx.encode())


def _coarsen(text: bytes) -> None:
    _read(goptx.coarsen(text, 2, arch="sm_90").ptx.encode())


def _prove(text: bytes) -> None:
    goptx.prove(goptx.weave(text, OTHER, arch="sm_90"))


def _check(text: bytes) -> None:
    goptx.check(text, OTHER, arch="sm_90")


def _command(*arguments: str) -> Callable[[bytes], None]:
    def of(text: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.ptx").write_bytes(text)
            (Path(folder) / "b.ptx").write_text(OTHER)
            done = run(*arguments, cwd=Path(folder))
            assert done.returncode in (0, 1, 2), f"exit status {done.returncode}"
            assert "Traceback" not in done.stderr, done.stderr

    return of


ACTIONS: dict[str, Callable[[bytes], None]] = {
    "read": _read,
    "weave": _weave,
    "coarsen": _coarsen,
    "prove": _prove,
    "check": _check,
    "goptx show": _command("show", "a.ptx"),
    "goptx weave": _command("weave", "a.ptx", "b.ptx", "--arch", "sm_90", "-o", "c.ptx"),
    "goptx fmt": _command("fmt", "a.ptx"),
}


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def stop(_: int, frame: FrameType | None) -> None:
        where = traceback.extract_stack(frame)[-1]
        raise _TooLong(f"more than {seconds:g} s, at {where.filename}:{where.lineno}")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def failure(action: str, text: bytes, seconds: float = SECONDS) -> Failure | None:
    """What is wrong with the outcome; None where it is a result or a refusal."""
    try:
        with _within(seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ACTIONS[action](text)
    except goptx.GoptxError as error:
        if "report this" in str(error):
            return Failure(action, str(error), text)
    except (Exception, SystemExit) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return Failure(action, f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})", text)
    return None


def failures(cases: int, seed: int, actions: Sequence[str] = tuple(ACTIONS)) -> Iterator[Failure]:
    """Of this many cases, each by its number and the seed."""
    for number in range(cases):
        random = Random(f"{seed} {number}")
        text = damaged(random.choice(texts()), random)
        found = failure(actions[number % len(actions)], text)
        if found is not None:
            yield found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop", type=float, default=float("inf"), help="seconds of processor time for all")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seen: dict[str, int] = {}
    number = -1
    for number in range(options.cases):
        for found in _one(number, options.seed):
            seen[found.problem] = seen.get(found.problem, 0) + 1
            if seen[found.problem] == 1:
                print(f"case {number}, {found.action}: {found.problem}", flush=True)
                Path(f"case{options.seed}_{number}.ptx").write_bytes(found.text)
        if time.process_time() > options.stop:
            break
    print(f"{number + 1} cases, {sum(seen.values())} failures of {len(seen)} kinds")
    return 1 if seen else 0


def _one(number: int, seed: int) -> Iterator[Failure]:
    random = Random(f"{seed} {number}")
    text = damaged(random.choice(texts()), random)
    found = failure(list(ACTIONS)[number % len(ACTIONS)], text)
    if found is not None:
        yield found


if __name__ == "__main__":
    sys.exit(main())
