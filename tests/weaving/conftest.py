"""The fixture `assembles`; the laws of passes hold in all tests of weaving."""

from collections.abc import Callable
from importlib.util import find_spec

import pytest

from goptx.device.assemble import find_ptxas
from goptx.results.fused_kernel import Woven


def has_nvjitlink() -> bool:
    try:
        return find_spec("cuda.bindings.nvjitlink") is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture(autouse=True)
def checked(laws: None) -> None:
    """The laws of passes are checked after each."""


@pytest.fixture
def assembles() -> Callable[[Woven], None]:
    """assembles(woven) fails unless an assembler takes the woven PTX, and skips where there is none."""

    def check(woven: Woven) -> None:
        if find_ptxas() is None and not has_nvjitlink():
            pytest.skip("no assembler: neither ptxas nor nvJitLink")
        assert woven.cubin().startswith(b"\x7fELF")

    return check
