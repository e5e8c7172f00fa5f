"""What an installed goptx has to do in a folder with harris.ptx and lud.ptx and their launch specifications, without
CUDA: import quickly, parse, weave, emulate, check, and say its version and what it finds. package.py calls it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import goptx

HEAVY = {"antlr4", "cuda", "networkx", "numpy"}


def command(*arguments: str) -> str:
    """What the console script prints."""
    script = Path(sys.executable).with_name("goptx")
    return subprocess.run([script, *arguments], capture_output=True, text=True, check=True).stdout


def main() -> None:
    assert not HEAVY & {name.partition(".")[0] for name in sys.modules}, "importing goptx imports too much"
    assert Path(sys.prefix) in Path(goptx.__file__).parents, f"{goptx.__file__} is not what was installed"
    harris, lud = Path("harris.ptx"), Path("lud.ptx")
    assert [entry.name for entry in goptx.read(harris).entries] == ["harris"]
    woven = goptx.weave(harris, lud)
    assert woven.report.latency == "sm_90"

    import numpy as np

    out = np.zeros(64, np.uint32)
    goptx.emulate(STORE, grid=2, block=32, args=[out])
    assert (out == np.arange(64)).all()
    assert goptx.check(harris, lud)

    assert command("--version") == f"goptx {version('goptx')}\n"
    assert command("weave", "harris.ptx", "lud.ptx") == woven.text()
    assert "goptx parses, weaves and prints PTX." in command("doctor")


STORE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
"""

if __name__ == "__main__":
    main()
