"""The merge of the GoPTX paper, with the warning that goes with it."""

from typing import Any

import pytest

import goptx
from goptx.errors import ConvergenceWarning


def published(*sources: Any, **options: Any) -> goptx.Woven:
    """Fails unless it warns."""
    with pytest.warns(ConvergenceWarning, match="does not keep convergence"):
        return goptx.weave(*sources, merge="paper", **options)
