"""Kernels of suite C in torch's own operations, for Inductor: by the kernel's entry, a function and its inputs in the
sizes of a launch. What a kernel changes in place is given as new arrays, of which as many bytes are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from goptx.launch.specification import Launch

Eager = tuple[Callable[..., tuple[Any, ...]], list[Any]]


def softmax(launch: Launch) -> Eager:
    import torch

    (x,) = _arrays(launch, x=_value(launch, "columns"))
    return lambda x: (torch.softmax(x, -1),), [x]


def dropout(launch: Launch) -> Eager:
    import torch

    probability = _value(launch, "probability", float)

    def run(x: Any, residual: Any) -> tuple[Any, ...]:
        remain = torch.rand(x.shape, device=x.device) > probability
        return (torch.where(remain, x.float() / (1 - probability), 0.0).add(residual.float()).half(),)

    return run, _arrays(launch, x=0, residual=0)


def cross_entropy(launch: Launch) -> Eager:
    """With its gradient; rows with a negative target do not count."""
    import torch

    columns = _value(launch, "columns")

    def run(logits: Any, target: Any) -> tuple[Any, ...]:
        wide, there = logits.float(), target >= 0
        label = torch.where(there, target, 0).long()[:, None]
        total = torch.logsumexp(wide, -1, keepdim=True)
        at = torch.arange(columns, device=wide.device)[None, :] == label
        gradient = torch.where(there[:, None], torch.exp(wide - total) - at.float(), 0.0)
        loss = torch.where(there, (total - wide.gather(1, label))[:, 0], 0.0)
        return loss, gradient.half()

    return run, _arrays(launch, logits=columns, target=0)


def layer_norm(launch: Launch) -> Eager:
    import torch

    eps = _value(launch, "eps", float)

    def run(x: Any, weight: Any, bias: Any) -> tuple[Any, ...]:
        wide = x.float()
        variance, mean = torch.var_mean(wide, -1, correction=0, keepdim=True)
        rstd = torch.rsqrt(variance + eps)
        return ((wide - mean) * rstd * weight + bias).half(), mean[:, 0], rstd[:, 0]

    return run, _arrays(launch, x=_value(launch, "columns"), weight=0, bias=0)


def swiglu(launch: Launch) -> Eager:
    import torch

    def run(x: Any) -> tuple[Any, ...]:
        gate, up = x.float().chunk(2, -1)
        return ((torch.nn.functional.silu(gate) * up).half(),)

    return run, _arrays(launch, x=2 * _value(launch, "inner"))


def adam_step(launch: Launch) -> Eager:
    rate, beta1, beta2, eps = (_value(launch, name, float) for name in ("rate", "beta1", "beta2", "eps"))

    def run(p: Any, g: Any, m: Any, v: Any) -> tuple[Any, ...]:
        first = m + (1 - beta1) * (g - m)
        second = v + (1 - beta2) * (g * g - v)
        return p - rate * first / (second.sqrt() + eps), first, second

    return run, _arrays(launch, p=0, g=0, m=0, v=0)


def head_norm(launch: Launch) -> Eager:
    import torch

    eps = _value(launch, "eps", float)

    def run(x: Any, weight: Any) -> tuple[Any, ...]:
        wide = x.float()
        scale = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
        return ((wide * scale * weight.float()).half(),)

    return run, _arrays(launch, x=128, weight=0)


def rotary(launch: Launch) -> Eager:
    import torch

    heads = _value(launch, "heads")

    def run(q: Any, cosine: Any, sine: Any) -> tuple[Any, ...]:
        a, b = q.float().view(-1, heads, 2, 64).unbind(2)
        c, s = cosine[:, None, :], sine[:, None, :]
        return (torch.stack([a * c - b * s, b * c + a * s], 2).half(),)

    return run, _arrays(launch, q=heads * 128, cosine=64, sine=64)


EAGER: Mapping[str, Callable[[Launch], Eager]] = {
    made.__name__: made for made in (softmax, dropout, cross_entropy, layer_norm, swiglu, adam_step, head_norm, rotary)
}


def _value(launch: Launch, name: str, kind: type[Any] = int) -> Any:
    """That of a scalar."""
    (found,) = (argument for argument in launch.arguments if argument.name == name)
    return kind(found.value)


def _arrays(launch: Launch, **columns: int) -> list[Any]:
    """The arguments of these names, with made-up contents, on the device; those with columns are matrices."""
    import torch

    found = []
    for name, width in columns.items():
        (argument,) = (one for one in launch.arguments if one.name == name)
        low, high = argument.low, argument.high
        kind, size = getattr(torch, argument.dtype), (argument.length,)
        if argument.generator == "integers":
            array = torch.randint(int(low), int(high), size, dtype=kind, device="cuda")
        else:
            array = torch.empty(size, dtype=kind, device="cuda").uniform_(low, high)
        found.append(array.view(-1, width) if width else array)
    return found
