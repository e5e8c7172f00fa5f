"""The register sweep of one woven pair of suite A at full size.

    python benchmarks/sweep.py stms+lud [-o benchmarks/results]

Times the woven kernel under each cap of the GoPTX paper; see suite_a/ for what the pairs are.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from measuring import Data, command_line, environment
from suite_a import FOLDER

import goptx
from goptx.device.load import launch
from goptx.launch.specification import read_specification


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", help="two kernels of suite A, such as stms+lud")
    parser.add_argument("-o", "--output", type=Path, help="folder for the results, for example benchmarks/results")
    parser.add_argument("--commit", help="what to record as the commit where there is no git checkout")
    options = parser.parse_args()
    launches = [read_specification(FOLDER / f"{name}.toml")[0] for name in options.pair.split("+")]
    woven = goptx.weave(*[one.file for one in launches])
    data = [Data(one, 1000 * i) for i, one in enumerate(launches)]
    packed = woven.arguments(*[d.arguments for d in data])
    grid, block = launches[0].grid, launches[0].block

    def run(kernel: Any, stream: Any) -> None:
        launch(kernel, stream, packed, grid=grid, block=block)

    swept = goptx.sweep(woven, run, block=block)
    print(swept)
    if options.output:
        document = {
            **environment(options.commit),
            "command": command_line(options.output),
            "pair": options.pair,
            "assembler": woven.resources().assembler,
            "rows": [asdict(row) for row in swept.rows],
        }
        options.output.mkdir(parents=True, exist_ok=True)
        stem = f"{date.today().isoformat()}-{document['gpu_short']}-sweep_{options.pair.replace('+', '_')}"
        (options.output / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")
        (options.output / f"{stem}.md").write_text(f"# {options.pair} woven, by register cap\n\n```\n{swept}\n```\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
