#!/usr/bin/env python3
"""Makes the parser in goptx/ptx/generated anew from Ptx.g4. Needs Node (npx), nothing of Python's.

python grammar/generate.py [FOLDER]
"""

import subprocess
import sys
from pathlib import Path

GENERATOR = "antlr-ng@1.0.10"  # writes for version 4.13 of the antlr4 runtime, without Java
GRAMMAR = Path(__file__).resolve().parent / "Ptx.g4"
GENERATED = GRAMMAR.parent.parent / "goptx" / "ptx" / "generated"


def generate(folder: Path) -> None:
    """Writes lexer and parser into `folder`; no listener, since goptx reads each rule's context as it ends."""
    command = ["npx", "--yes", GENERATOR, "-Dlanguage=Python3", "-l", "false", "-o", str(folder), GRAMMAR.name]
    subprocess.run(command, cwd=GRAMMAR.parent, check=True)


if __name__ == "__main__":
    generate(Path(sys.argv[1]).absolute() if sys.argv[1:] else GENERATED)
