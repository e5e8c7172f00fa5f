"""What a flow is written as: its labels are identifiers, whatever passes call its blocks, and distinct."""

from collections.abc import Callable
from itertools import pairwise

from bodies import kernel

import goptx
from goptx import Shape
from goptx.analysis.cfg import EXIT, Block, Flow
from goptx.analysis.terminators import Branch, Jump, Stop, Switch
from goptx.ptx.ir import Directive, Guard, Label, Name
from goptx.ptx.verify import legal
from goptx.weaving.emit.emit import statements


def test_labels_are_identifiers_and_distinct() -> None:
    names = ["B.in1", "B_in1", "$B_in1_", "B.in.1", "S", "S_table"]
    code = {n: Block((), Branch(Guard(Name("%p")), n, after)) for n, after in pairwise(names)}
    code["S"] = Block((), Switch(Name("%r"), (*names, EXIT)))
    code |= {"S_table": Block((), Jump("S")), EXIT: Block((), Stop())}
    written = statements(Flow("B.in1", code))
    found = [s.name for s in written if isinstance(s, Label)]
    assert len({*found}) == len(found) == len(names) + 2
    assert all(map(legal, found))
    assert {"$B_in1", "$B_in1_", "$S", "$S_table", "$exit"} <= {*found}  # those that need not change
    (targets,) = (s.values for s in written if isinstance(s, Directive))
    assert {*targets} < {*found}
    assert len({*targets}) == len(names) + 1


WAITING = """
    .shared .align 8 .b8 bar[8];
    mov.u32 %r1, %tid.x; ld.param.u64 %rd2, [k_out]; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 64; bar.sync 0; mbarrier.arrive.shared.b64 _, [bar];
    WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra WAIT;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r1; ret;
"""


def test_a_region_of_a_kernel_that_none_is_merged_with(assembles: Callable[[goptx.Woven], None]) -> None:
    shape = Shape((1, 2), 64)  # one CTA along x, so there is one copy
    woven = goptx.coarsen(kernel(WAITING), 2, shape=shape)
    assert "region" in woven.ptx
    assembles(woven)
