"""PyTorch: functions as optimized CUDA graphs; a woven kernel as an operator, on torch's tensors and current stream,
under torch.compile too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from goptx.adapters.torch_callable import OptimizedCallable, optimize
from goptx.errors import InputError
from goptx.launch.arguments import parameter_names, passed_by_value
from goptx.launch.shape import Shape

if TYPE_CHECKING:
    from torch.library import CustomOpDef

    from goptx.launch.parameter import Parameter
    from goptx.results.fused_kernel import Woven

__all__ = ["OptimizedCallable", "custom_op", "optimize"]

Extent = int | Sequence[int]


def custom_op(
    woven: Woven,
    name: str,
    *,
    grid: Extent | Callable[..., Extent] | None = None,
    block: Extent | None = None,
    shared: int = 0,
    shapes: Sequence[Shape] | Callable[..., Sequence[Shape]] | None = None,
    max_registers: int | None = None,
    independent: bool = False,
) -> CustomOpDef:
    """The operator `name`, "namespace::name", made by `torch.library.custom_op`: a function of the kernels' arguments,
    A's, then B's, that launches the woven kernel on the current stream and returns nothing.

    Pointers through which a kernel reads or writes are tensors (see `woven.params`), the other arguments are integers
    and floating-point numbers; written tensors are declared as mutated. The arguments are named a0, a1 and so on, then
    b0. The other parameters are as in `Woven.launch`; `grid` and `shapes` may be functions of the operator's arguments.

    Raises `InputError` for a kernel that takes a structure by value: operators of torch cannot.
    """
    params = [p for p in woven.params if p.kernel is not None]
    for param, called in zip(params, parameter_names(params), strict=True):
        if passed_by_value(param):
            raise InputError(
                f"`{woven.name}` cannot be an operator of torch: {called} is a structure passed by value. Launch it "
                "within a function of yours, made an operator by torch.library.custom_op."
            )
    import torch

    names = _names(params)
    counts = [sum(p.kernel == letter for p in params) for letter in woven.report.kernels]

    def run(*args: Any) -> None:
        tensor = next((a for a in args if isinstance(a, torch.Tensor)), None)
        with torch.cuda.device(tensor.device if tensor is not None else torch.cuda.current_device()):
            rest = iter(args)
            woven.launch(
                torch.cuda.current_stream(),
                *([next(rest) for _ in range(count)] for count in counts),
                grid=grid(*args) if callable(grid) else grid,
                block=block,
                shared=shared,
                shapes=shapes(*args) if callable(shapes) else shapes,
                max_registers=max_registers,
                independent=independent,
            )

    written = [n for n, p in zip(names, params, strict=True) if _is_written(p)]
    schema = ", ".join(f"{_type(n, p)} {n}" for n, p in zip(names, params, strict=True))
    made = torch.library.custom_op(name, run, mutates_args=written, device_types="cuda", schema=f"({schema}) -> ()")
    made.register_fake(lambda *args: None)
    return made


def _names(params: Sequence[Parameter]) -> list[str]:
    kernels = groupby(params, key=lambda p: p.kernel or "")
    return [f"{letter.lower()}{i}" for letter, own in kernels for i, _ in enumerate(own)]


def _is_written(param: Parameter) -> bool:
    return param.access in ("written", "both", "unknown")


def _type(name: str, param: Parameter) -> str:
    """The type of a parameter in torch's schemas."""
    if _is_written(param):
        return f"Tensor({name}!)"
    if param.access == "read":
        return "Tensor"
    return "float" if param.type.startswith("f") else "SymInt"
