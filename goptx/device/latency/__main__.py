"""`python -m goptx.device.latency OUT.toml`: measures the current GPU."""

import sys
from pathlib import Path

from goptx.device.latency.measure import measure
from goptx.device.latency.write import table_text
from goptx.latency.table import load_table

if __name__ == "__main__":
    import time
    began = time.monotonic()
    def say(done, of, key):
        if done % 20 == 0: print(f"{time.monotonic()-began:6.1f} s {done}/{of} {key}", flush=True)
    result = measure(progress=say)
    Path(sys.argv[1]).write_text(table_text(result, load_table(None, result.device.arch)), encoding="utf-8")
    print(f"{len(result.rows)} measured, {len(result.problems)} not, {result.replaced} processes replaced, {time.monotonic()-began:.1f} s")
    for key, why in result.problems.items():
        print("not", key, why[:300].replace("\n"," "))
