"""auto: runs the kernels as the cost model estimates to be fastest; it needs neither a GPU nor an assembler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from goptx.cost.known_launches import known_launches
from goptx.device.assemble import assembler_name
from goptx.errors import InputError
from goptx.latency.table import LatencyTable, load_table
from goptx.launch.shape import Shape
from goptx.log import LOG
from goptx.options import Assume, Choice, ParameterNames, ParameterPairs, Placement, Policy, Slicing
from goptx.results.expected_gain import judged
from goptx.results.fused_kernel import Woven
from goptx.results.given_kernels import Source, kernels_of, shapes_of
from goptx.strategies.auto_decision import cache, cached, given, key_of
from goptx.strategies.choose_strategy import REFUSALS, Search
from goptx.strategies.horizontal import horizontal
from goptx.strategies.interleave import interleave
from goptx.strategies.separate import separate
from goptx.strategies.vertical import vertical
from goptx.weaving.dependent.kernel_dependences import check_promises
from goptx.weaving.link.target import common_target
from goptx.weaving.merging.size_limits import check_limits
from goptx.weaving.request import check_request
from goptx.weaving.weave import weave


@judged
def auto(
    *sources: Source,
    entries: Sequence[str | None] | None = None,
    arch: str | None = None,
    name: str | None = None,
    policy: Policy = "latency",
    slicing: Slicing = "adaptive",
    divergence: Choice | None = None,
    latency: str | Path | LatencyTable | None = None,
    max_inlined: int | None = None,
    shapes: Sequence[Shape] | None = None,
    assume: Assume | None = None,
    placement: Placement | None = None,
    max_blocks: int | None = None,
    max_growth: float | None = None,
    depends: bool = False,
    assume_local: bool = False,
    no_barriers: bool = False,
    same: ParameterPairs = (),
    private: ParameterPairs = (),
    local: ParameterPairs = (),
    noalias: ParameterNames = (),
    presume: bool = True,
    assume_private: bool = False,
    assemble: bool = False,
    decision: Mapping[str, Any] | str | Path | None = None,
) -> Woven:
    """The kernels woven, vertical, interleaved or separate, coarsened or not, with a register cap or without: the
    candidate that is estimated to be fastest. A kernel with `wgmma` beside one that is limited by memory may become
    horizontal on folded grids, too. `report.decision` lists the candidates; `max_registers` is the cap.

    How kernels behave is unknown: candidates are compared with separate launches under a table of assumptions, and one
    that may lose much is not chosen. `assume` says what is known, as in `goptx.weave`.

    Kernels are coarsened only where `shapes` gives their grids. Kernels that depend on each other (`depends`,
    `private`, `local`) become vertical if possible, and stay separate otherwise. A temporary that cannot be proved to
    be one stays in memory; the others do not (`report.temporaries`).

    Candidates that are refused are noted in the report and logged ("goptx"; a warning where nothing is fused). Options
    are those of `weave` and `vertical`. Raises `CannotLink` where not even `separate` takes the kernels.

    assemble: whether the best candidates, at most five, are assembled. One is dropped if its machine code spills
        registers, if fewer CTAs fit on an SM than estimated, or if the assembler says that it serializes `wgmma`; the
        report's notes say so. It needs an assembler (`AssemblyError`), and the choice may depend on its version. By
        default the choice is by the estimate alone, and the same on every machine. Kernels that depend on each other
        have one candidate, which is not assembled.
    decision: an earlier decision for these kernels, `report.decision.to_dict()`, or a JSON file with it or with the
        whole report. What it chose is made, and nothing is estimated again: neither another version of goptx nor a
        change of a kernel leads to another choice. If a strategy refuses the kernels now, its reason is raised.
    """
    check_request(policy, slicing, divergence, placement)
    check_limits(max_blocks, max_growth)
    kernels = kernels_of(sources, entries, max_inlined=max_inlined)
    own = shapes_of(sources, shapes, kernels)
    known = known_launches(assume, kernels, own)
    read: dict[str, Any] = {"arch": arch, "name": name, "latency": latency, "shapes": own}
    fused = {**read, "divergence": divergence, "placement": placement, "presume": presume}
    check_promises(bool(depends or private or local), assume_local, no_barriers, assume_private)
    if decision is not None and assemble:
        raise InputError("decision= names the choice, so assemble= has nothing to compare; leave one of them out.")
    if depends or private or local:
        if decision is not None:
            raise InputError("decision= is for independent kernels; leave it out, or depends=, private= and local=.")
        dependent = {**fused, "depends": depends, "same": same, "private": private, "local": local, "noalias": noalias}
        dependent |= {"assume_local": assume_local, "no_barriers": no_barriers, "assume_private": assume_private}
        dependent["unproved"] = "memory"
        # Options may name parameters by the names of sources, which the kernels alone do not have.
        return _vertical_or_separate(sources, {**read, "entries": entries}, {**dependent, "entries": entries})
    makers: dict[str, Callable[..., Woven]] = {
        "weave": partial(
            weave, **fused, policy=policy, slicing=slicing, max_blocks=max_blocks, max_growth=max_growth, same=same
        ),
        "vertical": partial(vertical, **fused, same=same, noalias=noalias),
        "interleave": partial(interleave, **read, placement=placement, presume=presume, same=same),
        "separate": partial(separate, **read),
    }
    if placement is None and not same:
        makers["horizontal"] = partial(horizontal, **read, presume=presume)
    target = common_target([k.module for k in kernels], arch)[0]
    table = load_table(latency, target)
    slices = policy == "latency" and slicing == "adaptive"
    search = Search(kernels, own, makers, target, table, slices, known, assemble)
    if decision is not None:
        return search.as_decided(given(decision, len(kernels)))
    asked = (
        name,
        policy,
        slicing,
        divergence,
        placement,
        max_blocks,
        max_growth,
        same,
        noalias,
        presume,
        known,
        assembler_name() if assemble else "",
    )
    key = key_of(kernels, own, target, asked, table)
    if decided := cached(key):
        return search.as_decided(decided)
    best = search.best()
    cache(key, search.decided)
    return best


def _vertical_or_separate(sources: Sequence[Source], read: Mapping[str, Any], options: Mapping[str, Any]) -> Woven:
    """The kernels made vertical, or separate where that is refused."""
    try:
        return vertical(*sources, **options)
    except REFUSALS as reason:
        LOG.warning("not fused: vertical: %s", reason)
        return separate(*sources, **read, notes=[f"not vertical: {reason}"])
