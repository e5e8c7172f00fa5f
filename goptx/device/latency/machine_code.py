"""Proves that the timed code exists: disassembles a cubin and counts instructions between the clock's readings."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from goptx.device.latency.row import Row
from goptx.device.latency.text import entry_name, repetitions
from goptx.errors import AssemblyError

Code = Sequence[tuple[str, str]]
"""Instructions in order: mnemonic, and operands as text."""

_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)(.*?);", re.MULTILINE)
_FUNCTION = re.compile(r"^\.text\.(\w+):|^\s*Function : (\w+)", re.MULTILINE)
_TOOLS = ("nvdisasm", "cuobjdump")
_WHEEL = "nvidia/cu13/bin"
_INSTALL = "`pip install goptx[measure]`, or put the CUDA toolkit's on the PATH"
_STRAY = 0.1  # other instructions for each repetition that are tolerated


def find_disassembler() -> str:
    """Path of nvdisasm, else of cuobjdump: on the PATH, else in their wheels. Raises AssemblyError without either."""
    for tool in _TOOLS:
        for place in (None, *(str(Path(folder, _WHEEL)) for folder in sys.path)):
            if found := shutil.which(tool, path=place):
                return found
    raise AssemblyError(f"no nvdisasm or cuobjdump, to prove that the timed code exists: {_INSTALL}")


def disassembled(cubin: bytes, tool: str) -> dict[str, Code]:
    """The code of each function of a cubin. Raises AssemblyError."""
    with TemporaryDirectory(prefix="goptx-") as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        options = ["-sass"] if "cuobjdump" in Path(tool).name else []
        done = subprocess.run([tool, *options, str(file)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssemblyError(f"`{tool}` does not read the machine code: {done.stderr.strip()[:300]}")
    pieces = _FUNCTION.split(done.stdout)
    return {
        pieces[n] or pieces[n + 1]: [(m[1], m[2].strip()) for m in _INSTRUCTION.finditer(pieces[n + 2])]
        for n in range(1, len(pieces), 3)
    }


def one_repetition(row: Row, kind: str, module: Mapping[str, Code]) -> str:
    """The machine code of one repetition, such as "IADD3 + 2 SEL": the difference of the long and the short part.

    Raises AssemblyError, which names what is missing, where not every repetition has the instruction.
    """
    parts = _between_clocks(module[entry_name(row, kind)])
    if row.counted == "module":
        parts = [Counter(name for code in module.values() for name, _ in code)] * 3
    if len(parts) != 3:
        raise AssemblyError(f"the clock is read {len(parts) + 1} times in the machine code, not 4")
    if row.counted != "each":
        if not all(any(re.match(row.sass, name) for name in part) for part in (parts[0], parts[2])):
            raise AssemblyError(f"no `{row.sass}` in the machine code")
        return row.sass
    more = Counter(parts[2])
    more.subtract(parts[0])
    short, long = repetitions(row, kind)
    count = long - short
    found = sum(n for name, n in more.items() if row.sass and re.match(row.sass, name))
    mix = {name: n / count for name, n in more.items() if abs(n) > _STRAY * count}
    if found < count if row.sass else mix:
        raise AssemblyError(
            f"{count} additional repetitions have {found} more `{row.sass or 'no instruction'}`; in all {_listed(mix)}"
        )
    return _listed(mix)


def _between_clocks(code: Code) -> list[Counter[str]]:
    """The mnemonics between each reading of the clock and the next."""
    at = [n for n, (_, operands) in enumerate(code) if "SR_CLOCK" in operands]
    return [Counter(name for name, _ in code[i + 1 : j]) for i, j in pairwise(at)]


def _listed(mix: Mapping[str, float]) -> str:
    amounts = ((name, round(n, 1)) for name, n in mix.items())
    return " + ".join(name if n == 1 else f"{n:g} {name}" for name, n in amounts) or "nothing"
