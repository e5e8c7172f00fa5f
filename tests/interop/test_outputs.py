"""Woven kernels as objects of torch and CuPy, which are stand-ins here; and the examples, where they can run."""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from bodies import kernel
from interop.objects import layer_norm, softmax

import goptx
from goptx import InputError, Woven
from goptx.adapters.cupy_module import raw_module
from goptx.adapters.torch import custom_op
from goptx.device.assemble import find_ptxas

EXAMPLES = Path(__file__).parents[2] / "examples" / "interop"


class Tensor:
    device = "cuda:1"


@pytest.fixture
def operators(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The registration of each operator with torch."""
    registered: dict[str, Any] = {}

    def made(name: str, run: Any, **options: Any) -> Any:
        registered[name] = {"run": run, **options}
        return SimpleNamespace(register_fake=lambda fake: registered[name].update(fake=fake))

    torch = ModuleType("torch")
    cuda = SimpleNamespace(current_stream=lambda: "stream", current_device=lambda: 0, device=nullcontext)
    vars(torch).update(Tensor=Tensor, cuda=cuda, library=SimpleNamespace(custom_op=made))
    monkeypatch.setitem(sys.modules, "torch", torch)
    return registered


def test_an_operator_of_torch(operators: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    custom_op(goptx.weave(softmax(), layer_norm()), "ns::both", grid=lambda *args: args[2])
    registered = operators["ns::both"]
    assert registered["schema"] == (
        "(Tensor(a0!) a0, Tensor a1, SymInt a2, SymInt a3, Tensor b0, Tensor(b1!) b1, Tensor b2, Tensor b3, "
        "Tensor(b4!) b4, Tensor(b5!) b5, SymInt b6, SymInt b7, float b8) -> ()"
    )
    assert registered["mutates_args"] == ["a0", "b1", "b4", "b5"] and registered["device_types"] == "cuda"
    assert registered["fake"](*range(13)) is None
    launched: list[Any] = []
    monkeypatch.setattr(Woven, "launch", lambda self, *args, **options: launched.append((args, options)))
    tensor = Tensor()
    registered["run"](tensor, *range(1, 13))
    ((stream, *args), options) = launched[0]
    assert stream == "stream" and args == [[tensor, 1, 2, 3], list(range(4, 13))]
    assert options["grid"] == 2 and options["block"] is None


def test_a_structure_is_not_an_argument_of_an_operator() -> None:
    text = kernel("ret;").replace(".param .u32 k_n", ".param .align 8 .b8 k_n[24]")
    with pytest.raises(InputError, match=r"cannot be an operator of torch: A:2 \(k_n\) is a structure passed by value"):
        custom_op(goptx.weave(text, text), "ns::name")


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas")
def test_a_module_of_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    class RawModule:
        def __init__(self, path: str) -> None:
            self.path = Path(path)

        def compile(self) -> None:
            self.code = self.path.read_bytes()

    cupy = ModuleType("cupy")
    vars(cupy).update(RawModule=RawModule)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    woven = goptx.weave(softmax(), layer_norm())
    assert raw_module(woven).code == woven.cubin()


@pytest.mark.parametrize("example", sorted(p.name for p in EXAMPLES.glob("*.py")))
def test_an_example_runs_or_names_what_is_missing(example: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / example)], capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 77), done.stdout + done.stderr
    assert ("outputs are equal" if done.returncode == 0 else "skipped: ") in done.stdout
