"""The errors for modules that break an invariant."""

import re
from dataclasses import replace

import pytest
from bodies import kernel

from goptx.errors import GoptxError
from goptx.ptx.ir import Label
from goptx.ptx.parse import as_spelled, parse
from goptx.ptx.verify import verify


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (kernel("ret;") + ".global .u32 g;\n.global .u32 g;\n", "`g` is defined twice"),
        (kernel("bra NOWHERE;"), "`bra NOWHERE;` goes nowhere"),
        (kernel("mov.u32 %unheard, 1; ret;"), "uses `%unheard`, which is not declared"),
        (kernel("bar.sync 16; ret;"), "`bar.sync 16;` has no barrier id below 16"),
        (kernel("L: ret; L: ret;"), "`L` is declared twice in `k`"),
        (kernel("brx.idx %r1, T; T: .branchtargets L;"), "`.branchtargets L;` names a label that does not exist"),
        (kernel("ret;").replace(".u32 k_n", ".b8 k_n[5000]"), "`k` has too many parameters"),
    ],
)
def test_a_module_that_is_not_well_formed(text: str, problem: str) -> None:
    with pytest.raises(GoptxError) as caught:
        verify(as_spelled(text))
    message = str(caught.value)
    assert message.startswith("goptx made a module that is not well formed (")
    assert message.endswith("); please report this.")
    assert problem in message


@pytest.mark.parametrize("name", ["$L.in1", "$", "1L", "L-1", "$\u00e4"])
def test_a_label_that_is_not_an_identifier(name: str) -> None:
    module = parse(kernel("ret;"))
    (entry,) = module.entries
    labelled = replace(entry, body=(*(entry.body or ()), Label(name)))
    with pytest.raises(GoptxError, match=re.escape(f"`{name}` is not an identifier")):
        verify(replace(module, items=tuple(labelled if item is entry else item for item in module.items)))
