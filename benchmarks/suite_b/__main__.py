"""Suite B on a GPU: batch-norm statistics and a histogram, fused horizontally at every partition and in other ways.

    python -m benchmarks.suite_b [-o benchmarks/results] [--small]
    python -m benchmarks.suite_b --tune

A CTA of 1,024 threads is shared out in steps of 128, without a register cap and with HFUSE's; beside that vertical,
weave, interleave, and two streams. Right first: with contraction off each way has to leave what separate launches leave
in the same blocks, bit for bit, from poisoned outputs, and these have to be what CuPy finds. All ways run in a child
process under a time limit; one that hangs is left out of the next try. --small compares in the sizes of `[check]`, and
times nothing. --tune makes best.json anew, the result of `goptx.tune`. The exit status is 1 if anything is wrong. Needs
ptxas, cuda-python and CuPy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # where the other suites are

from measuring import command_line, environment

from suite_b import PAIR, best
from suite_b.supervised import supervised
from suite_b.table import table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    parser.add_argument("--small", action="store_true", help="the sizes of [check]: compare, do not time")
    parser.add_argument("--tune", action="store_true", help="make best.json anew")
    options = parser.parse_args()
    if options.tune:
        print(best.tune_pair())
        return 0
    begin = time.monotonic()
    found = supervised(options.small, lambda text: print(text, flush=True))
    document = {
        "suite": "B",
        "command": command_line(options.output, "-m benchmarks.suite_b"),
        **environment(options.commit),
        "seconds": round(time.monotonic() - begin),
        "pair": "+".join(PAIR),
        "found": found,
    }
    print(table(document))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        stem = f"{date.today().isoformat()}-{document['gpu_short']}-suite_b{'_small' if options.small else ''}"
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(table(document))
    return 0 if found["right"] else 1


if __name__ == "__main__":
    sys.exit(main())
