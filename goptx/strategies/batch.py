"""batch: a loop of launches with a changing scalar becomes one launch, whose grid has one more axis."""

from __future__ import annotations

from goptx.launch.shape import Shape
from goptx.options import Axis
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source
from goptx.strategies.batch_passes import batched


def batch(
    source: Source,
    over: str,
    axis: Axis = "y",
    start: int = 0,
    step: int = 1,
    *,
    entry: str | None = None,
    arch: str | None = None,
    name: str | None = None,
    shape: Shape | None = None,
    independent: bool = False,
) -> Woven:
    """One launch in place of a loop of launches: `for k in range(N): a(..., start + step * k, ...)`.

    The parameter `over`, by number or name ("A:2", "A:n"), an integer, is computed from the CTA's index along `axis`
    and is not an argument any more. N, the number of iterations, is the extent of the grid along that axis:
    `launch(stream, args, grid=(G, N), block=B)` for "y". Along y and z there are 65,535 at most.

    This is right only where iterations are independent, for all of them run at once: none may write what another reads
    or writes. The caller promises that. What provably breaks the promise is refused: an array that the kernel writes at
    addresses that do not depend on the parameter, so that each iteration writes the same elements. Pass
    independent=True where that does no harm, as where all write the same values.

    shape: the launch shape of the kernel alone, if it is known. Its grid has one CTA along `axis`.
    entry, arch, name: as in `goptx.coarsen`.

    The result counts as one kernel among others: it can be woven and coarsened.

    Raises `InputError` for an unknown parameter or axis, `CannotWeave` where the kernel reads %ctaid along the axis or
    takes the parameter by anything but a load, `DependentKernels`, and what `weave` raises.
    """
    return batched(source, over, axis, start, step, entry, arch, name, shape, independent)
