"""The measuring process is replaced when it hangs, ends or breaks, and the next job continues."""

from collections.abc import Iterator

import measuring_children
import pytest

from goptx.device.latency import children
from goptx.device.latency.children import Child
from goptx.device.latency.jobs import Answer, Job, Launch, Timed
from goptx.errors import DeviceError


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    monkeypatch.setattr(children, "serve", measuring_children.honest)
    monkeypatch.setattr(children, "LIMIT", 2)
    child = Child(b"")
    yield child
    child.end()


def job(name: str) -> Job:
    return Job(name, b"", (Launch("latency", "entry", b"", 1),), 32, None)


@pytest.mark.parametrize(
    ("name", "problem", "replaced"),
    [
        ("hangs", "no answer within 2 s: it hangs", 1),
        ("ends", "the process ended without an answer", 1),
        ("breaks", "CUDA_ERROR_ILLEGAL_ADDRESS", 1),
        ("refused", "the driver refuses kernel", 0),
    ],
)
def test_after_a_failure_the_next_job_is_answered(child: Child, name: str, problem: str, replaced: int) -> None:
    assert child.device == measuring_children.DEVICE
    assert len(child.answer(job("add")).timed) == 1
    answer = child.answer(job(name))
    assert problem in answer.problem
    assert child.answer(job("mul")) == Answer((Timed("latency", ((180, 420), (180, 421), (180, 430)), b""),), 1703.0)
    assert child.replaced == replaced


def test_without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "serve", measuring_children.without_device)
    with pytest.raises(DeviceError, match="no usable NVIDIA GPU"):
        Child(b"")
