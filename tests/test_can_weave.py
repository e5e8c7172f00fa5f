"""can_weave() answers as weave() does."""

import pickle
from pathlib import Path

import pytest
from bodies import kernel

import goptx
from goptx import CannotLink, CannotWeave, InputError, PtxSyntaxError
from goptx.weaving.can_weave import Refusal

PLAIN = kernel("ret;")
CLUSTER = kernel("barrier.cluster.arrive; barrier.cluster.wait; ret;", "c").replace("sm_80", "sm_90")
NARROW = PLAIN.replace(".address_size 64", ".address_size 32")


def test_true_where_weave_gives_a_kernel() -> None:
    assert goptx.can_weave(PLAIN, kernel("bar.sync 0; ret;", "j")) is True


@pytest.mark.parametrize(("other", "kind"), [(CLUSTER, CannotWeave), (NARROW, CannotLink)])
def test_the_reason_is_what_weave_raises(other: str, kind: type[Exception]) -> None:
    answer = goptx.can_weave(PLAIN, other)
    with pytest.raises(kind) as refused:
        goptx.weave(PLAIN, other)
    assert not answer
    assert isinstance(answer, Refusal)
    assert type(answer.reason) is kind
    assert str(answer) == str(answer.reason) == str(refused.value)
    assert str(answer).endswith(f" [{answer.rule}]")
    again = pickle.loads(pickle.dumps(answer))
    assert (str(again), again.rule) == (str(answer), answer.rule)


def test_a_refusal_keeps_nothing_alive() -> None:
    answer = goptx.can_weave(PLAIN, CLUSTER)
    assert isinstance(answer, Refusal)
    assert answer.reason.__traceback__ is None


def test_it_takes_what_weave_takes() -> None:
    both = PLAIN + kernel("ret;", "j").split(".address_size 64")[1]
    assert goptx.can_weave(both, both, entries=["k", "j"], policy="paper", shapes=[goptx.Shape(4, 32)] * 2)
    with pytest.raises(InputError, match="name one"):
        goptx.can_weave(both, PLAIN)
    with pytest.raises(InputError, match="policy `fast`"):
        goptx.can_weave(PLAIN, PLAIN, policy="fast")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="colour"):
        goptx.can_weave(PLAIN, PLAIN, colour="red")  # type: ignore[call-arg]


def test_what_is_wrong_with_the_input_is_raised() -> None:
    with pytest.raises(PtxSyntaxError):
        goptx.can_weave(PLAIN, PLAIN.replace("ret;", "ret"))
    with pytest.raises(InputError, match="cannot be read"):
        goptx.can_weave(PLAIN, Path("no.ptx"))
    with pytest.raises(InputError, match="takes two to 26 kernels"):
        goptx.can_weave(PLAIN)
