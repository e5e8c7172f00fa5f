#!/usr/bin/env python3
"""Assembles the cases that need a later ptxas than that of CI, and writes down what came of it.

PYTHONPATH=tests python tests/isa/newer.py PTXAS...

Takes paths of ptxas programs, and for each case the lowest of the release that the case names. Each case, its print and
each of its sections woven with another kernel are assembled. assembled.txt has for each case the version of ptxas, the
digests of the case and of its print, which made the same machine code, how many sections were woven, and by which rule
the others were refused.
test_isa.py compares the digests: a case that was changed has to be assembled again.

The wheels of ptxas are `pip download --no-deps nvidia-cuda-nvcc==13.4.*` and the like.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from isa.coverage import HERE, Case, alone, newer

from goptx.errors import CannotWeave
from goptx.ptx.parse import parse
from goptx.weaving.weave import weave

RECORD = HERE / "assembled.txt"
PARTNER = """.version 8.0
.target sm_80
.address_size 64
.visible .entry partner(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
"""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def weave_alone(case: Case) -> tuple[dict[str, str], dict[str, str]]:
    """By section, the text of its kernel woven with another; and the rule by which it is refused."""
    woven, refused = dict[str, str](), dict[str, str]()
    for section, module in alone(case).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                woven[section] = str(weave(module, PARTNER).module)
            except CannotWeave as refusal:
                refused[section] = str(refusal.rule)
    return woven, refused


def listed(refused: Mapping[str, str]) -> str:
    return ",".join(f"{section}={rule}" for section, rule in refused.items()) or "-"


def recorded() -> dict[str, list[str]]:
    """For each case the fields of its line."""
    lines = [line.split() for line in RECORD.read_text().splitlines() if not line.startswith("#")]
    return {name: fields for name, *fields in lines}


def _record(case: Case, assemblers: dict[str, str]) -> Iterator[str]:
    full = min(v for v in assemblers if v.startswith(f"{case.release}."))
    text = case.path.read_text()
    printed = str(parse(text))
    made, again = _made(assemblers[full], case, text), _made(assemblers[full], case, printed)
    assert made == again or ".loc" in text, f"{case.path.name}: other machine code"
    woven, refused = weave_alone(case)
    for result in woven.values():
        _made(assemblers[full], case, result)
    yield f"{case.path.stem} {full} {digest(text)} {digest(printed)} {len(woven)} {listed(refused)}"


def _made(ptxas: str, case: Case, text: str) -> bytes:
    with TemporaryDirectory() as folder:
        Path(folder, "case.ptx").write_text(text)
        command = [ptxas, *case.arguments, "case.ptx", "-o", "case.cubin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, f"{case.path.name}: {done.stderr}\n{text}"
        return Path(folder, "case.cubin").read_bytes()


def _version(ptxas: str) -> str:
    printed = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"V(\d+\.\d+\.\d+)", printed)
    assert found, f"{ptxas} is not ptxas"
    return found[1]


if __name__ == "__main__":
    assemblers = {_version(path): str(Path(path).resolve()) for path in sys.argv[1:]}
    lines = [line for case in newer() for line in _record(case, assemblers)]
    about = "# case, ptxas, digests of the case and of its print, sections woven, sections refused (newer.py)\n"
    RECORD.write_text(about + "".join(f"{line}\n" for line in lines))
