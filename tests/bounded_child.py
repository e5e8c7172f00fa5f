"""Run by test_bounded_input.py: does one thing with PTX of standard input, and prints what came of it, the seconds of
processor time that it took and the most memory of the process in MiB.

python bounded_child.py weave|emulate|read|replay
"""

import resource
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import goptx

OTHER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry other(.param .u64 p)
{
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    ret;
}
"""
MEMORY = 4 << 30  # bytes of address space; a test fails long before


def outcome(what: str, text: str) -> str:
    try:
        if what == "weave":
            goptx.weave(text, OTHER)
        elif what == "emulate":
            goptx.emulate(text, grid=1, block=32, args=[0])
        elif what == "replay":
            with TemporaryDirectory() as folder:
                (Path(folder) / "best.json").write_text(text)
                goptx.replay(Path(folder) / "best.json")
        else:
            str(goptx.read(text))
    except goptx.GoptxError as error:
        return f"{type(error).__name__}: {error}"
    return "done"


def most_memory() -> float:
    """MiB. Linux hands `ru_maxrss` on from the process that started this one, which may have been larger."""
    status = Path("/proc/self/status")
    if status.exists():
        return float(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = sys.stdin.read()
    goptx.weave(OTHER, OTHER)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    begin = time.process_time()
    found = outcome(sys.argv[1], given)
    seconds = time.process_time() - begin
    print(found)
    print(seconds, most_memory())
