"""ANTLR's own runtime against the light one that goptx's generated parser runs on: what each step takes.

    python benchmarks/parse_runtime.py [-o benchmarks/results] [FILE.ptx ...]

ANTLR's: the generated lexer with `CommonTokenStream`; the generated parser on it, with `ParserRuleContext` for the
contexts of rules and without a parse tree; the same parser on the tokens that goptx cuts. goptx's: its tokens; all of
`parse`, values included. Medians of processor time, in turn. Without files: those of parse_speed.py that are compared
with ptxas. Needs nvcc unless files are given.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

import host
from antlr4 import CommonTokenStream, InputStream
from parse_speed import TYPES, largest_of_each_compiler, sorted_types

from goptx.ptx.generated import PtxParser as generated
from goptx.ptx.generated.PtxLexer import PtxLexer
from goptx.ptx.parse import parse
from goptx.ptx.tokens import tokens

REPEATS = 5
STEPS = {
    "lexer": "ANTLR: lexer",
    "parser": "its parser",
    "mixed": "its parser on our tokens",
    "tokens": "goptx: tokens",
    "parse": "all of parse",
}


class TokenList:
    """Tokens as the stream that ANTLR's parser reads."""

    def __init__(self, text: str) -> None:
        self.tokens = list(tokens(text))
        self.index = 0

    def LT(self, offset: int) -> Any:
        at = self.index + offset - (offset > 0)
        return self.tokens[min(at, len(self.tokens) - 1)] if at >= 0 else None

    def LA(self, offset: int) -> int:
        return int(self.LT(offset).type)

    def consume(self) -> None:
        self.index += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.ptx")
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        made = [] if options.files else [sorted_types(TYPES[0], Path(temporary)), *largest_of_each_compiler()]
        rows = [measured(path) for path in options.files or made]
    document = {
        "suite": "E, the parser's runtime",
        "command": "python benchmarks/parse_runtime.py" + (" -o benchmarks/results" if options.output else ""),
        "processor": host.processor(),
        "python": platform.python_version(),
        "commit": host.commit(),
        "rows": rows,
    }
    print(table(document))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = options.output / f"{date.today().isoformat()}-cpu-parse_runtime"
        stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
        stem.with_suffix(".md").write_text(table(document))
    return 0


def plain() -> ModuleType:
    """The generated parser with ANTLR's own record of a rule in progress in place of goptx's."""
    source = Path(str(generated.__file__)).read_text(encoding="utf-8")
    ours = "from goptx.ptx.rule import Rule\n"
    assert source.count(ours) == 1
    made = ModuleType("plain_parser")
    sys.modules[made.__name__] = made
    exec(source.replace(ours, "from antlr4 import ParserRuleContext as Rule\n"), vars(made))
    return made


def measured(path: Path) -> dict[str, Any]:
    text, own = path.read_text(), plain()

    def lexed() -> CommonTokenStream:
        stream = CommonTokenStream(PtxLexer(InputStream(text)))
        stream.fill()
        return stream

    def parsed(stream: Any) -> None:
        made = own.PtxParser(stream)
        made.buildParseTrees = False
        made.module()
        assert not made.getNumberOfSyntaxErrors()

    def once(work: Callable[[], object]) -> float:
        gc.collect()
        gc.disable()  # as `parse` does
        begin = time.process_time()
        work()
        spent = time.process_time() - begin
        gc.enable()
        return spent

    times: dict[str, list[float]] = {step: [] for step in STEPS}
    for _ in range(REPEATS):
        stream, listed = lexed(), TokenList(text)
        assert len(stream.tokens) == len(listed.tokens)
        times["lexer"].append(once(lexed))
        times["parser"].append(once(lambda stream=stream: parsed(stream)))  # type: ignore[misc]
        times["mixed"].append(once(lambda listed=listed: parsed(listed)))  # type: ignore[misc]
        times["tokens"].append(once(lambda: list(tokens(text))))
        times["parse"].append(once(lambda: parse(text)))
    seconds = {step: statistics.median(spent) for step, spent in times.items()}
    return {"file": path.name, "bytes": len(text), "tokens": len(listed.tokens), "seconds": seconds, "all": times}


def table(document: dict[str, Any]) -> str:
    lines = [
        "# The parser on ANTLR's runtime and on goptx's", "",
        f"{document['processor']}, Python {document['python']}, commit {document['commit']}. "
        f"`{document['command']}`", "",
        f"Milliseconds of processor time, medians of {REPEATS}, in turn, without the collector of cycles. ANTLR's "
        "lexer and parser build no parse tree and no values; goptx's `parse` includes its tokens and makes values.",
        "",
        f"| file | kB | tokens | {' | '.join(STEPS.values())} | ANTLR's lexer and parser over parse |",
        "|---" * (len(STEPS) + 4) + "|",
    ]  # fmt: skip
    for row in document["rows"]:
        spent = row["seconds"]
        cells = " | ".join(f"{1000 * spent[step]:.1f}" for step in STEPS)
        ratio = (spent["lexer"] + spent["parser"]) / spent["parse"]
        lines.append(f"| {row['file']} | {row['bytes'] / 1000:.0f} | {row['tokens']} | {cells} | {ratio:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
