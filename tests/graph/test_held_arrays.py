"""Arrays of torch that are held so that they do not share memory, with stand-ins for torch."""

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import goptx
from goptx.device.graphs.held_arrays import MIB, Held
from goptx.errors import InputError


class Storage:
    def __init__(self, address: int, size: int) -> None:
        self.address, self.size = address, size

    def data_ptr(self) -> int:
        return self.address

    def nbytes(self) -> int:
        return self.size


def test_the_newest_storages_are_held_up_to_the_limit() -> None:
    held = Held(100)
    held.add([Storage(1, 40), Storage(2, 40), Storage(1, 40), Storage(0, 0)])
    assert (held.bytes, list(held._storages)) == (80, [1, 2])
    held.add([Storage(3, 30), Storage(4, 101)])
    assert (held.bytes, list(held._storages)) == (70, [2, 3])
    held.release()
    assert held.bytes == 0


class Tensor:
    def __init__(self, address: int, size: int = 8, is_cuda: bool = True) -> None:
        self.storage, self.is_cuda = Storage(address, size), is_cuda

    def untyped_storage(self) -> Storage:
        return self.storage


class Mode:
    """torch's base class: `active` is the mode that sees operations."""

    active: Any = None

    def __enter__(self) -> "Mode":
        Mode.active = self
        return self

    def __exit__(self, *error: object) -> None:
        Mode.active = None

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return False


def operation(made: object) -> object:
    """An operation of torch that returns this."""
    work: Callable[..., object] = lambda *args, **kwargs: made  # noqa: E731
    return Mode.active.__torch_dispatch__(work, ()) if Mode.active else made


@pytest.fixture
def dispatch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("torch.utils._python_dispatch")
    made.TorchDispatchMode = Mode  # type: ignore[attr-defined]
    cuda = SimpleNamespace(is_initialized=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor, cuda=cuda))
    monkeypatch.setitem(sys.modules, "torch.utils", ModuleType("torch.utils"))
    monkeypatch.setitem(sys.modules, "torch.utils._python_dispatch", made)
    return made


def test_what_operations_make_is_held_until_the_end(dispatch: ModuleType) -> None:
    with goptx.collect(hold=1):
        one = operation(Tensor(1))
        operation([Tensor(2), Tensor(3, is_cuda=False), 4])
        assert isinstance(one, Tensor)
        mode = Mode.active
        assert mode.ignore_compile_internals()  # compiled functions run as they do without it
        held = mode.__torch_dispatch__.__func__.__closure__
        (own,) = [cell.cell_contents for cell in held if isinstance(cell.cell_contents, Held)]
        assert (list(own._storages), own.limit) == ([1, 2], MIB)
    assert own.bytes == 0
    assert Mode.active is None


def test_nothing_is_held_by_default_and_without_a_torch_that_allows_it(
    dispatch: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    with goptx.collect():
        assert Mode.active is None
    dispatch.TorchDispatchMode = type("Older", (), {})  # type: ignore[attr-defined]
    with goptx.collect(hold=1):
        assert Mode.active is None
    monkeypatch.setitem(sys.modules, "torch.utils._python_dispatch", None)
    with goptx.collect(hold=1):
        assert Mode.active is None
    monkeypatch.delitem(sys.modules, "torch")
    with goptx.collect(hold=1):
        assert Mode.active is None


@pytest.mark.parametrize("hold", [-1, True, 1.5, "256"])
def test_what_is_held_is_a_number_of_mebibytes(hold: Any) -> None:
    with pytest.raises(InputError, match="is not a number of MiB; give for example hold=256, or 0"):
        goptx.collect(hold=hold)
