"""Barriers in shared memory."""

from __future__ import annotations

from goptx.device.latency.rows.memory import _issued
from goptx.device.latency.row import Row

_ROOM = {"shared": 16384, "x": "b32"}
_INIT = "@%first mbarrier.init.shared.b64 [$shared], 1023; bar.warp.sync -1;"
_FLIP = {"back": "selp.b32 $x, $a0, $b0, $q;", "minus": ("selp.b32",), "values": (1, 1, 1), **_ROOM}

ROWS = (
    _issued("mbarrier.init.shared.b64", "[$shared+$k*8], 32", "SYNCS|STS", ahead="@%first", **_ROOM),
    _issued("mbarrier.inval.shared.b64", "[$shared+$k*8]", r"SYNCS\.CCTL|NOP", ahead="@%first mbarrier.init.shared.b64 [$shared+$k*8], 32; @%first",
            minus=("mbarrier.init",), **_ROOM),
    Row("mbarrier.arrive.shared.b64", "%state, [$shared]", "SYNCS|ATOMS", latency=False, chains=1, setup=_INIT.replace("1023", "32"),
        declares=".reg .b64 %state;", **_ROOM),
    Row("mbarrier.test_wait.parity.shared.b64", "$q, [$shared], $x", "SYNCS|LDS", arch=90, setup=_INIT, **_FLIP, chains=0),
    Row("mbarrier.try_wait.parity.shared.b64", "$q, [$shared], $x", "SYNCS", arch=90, setup=_INIT, **_FLIP, chains=0),
    _issued("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", "[$shared], 1", r"SYNCS\S*A0T[R1]", arch=90, setup=_INIT,
            back="mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$shared], 1;", minus=("mbarrier.complete_tx",), **_ROOM),
    _issued("mbarrier.complete_tx.relaxed.cta.shared::cta.b64", "[$shared], 1", "SYNCS", arch=90, setup=_INIT, **_ROOM),
    _issued("cp.async.mbarrier.arrive.noinc.shared.b64", "[$shared]", "ARRIVES", setup=_INIT.replace("1023", "32"), **_ROOM),
)  # fmt: skip
