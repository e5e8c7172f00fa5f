"""The laws of each pass, by its name. Each law takes what the pass gives to `ensured` (invariants.py): the value, and
the
context that it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from goptx.weaving.laws.flow_laws import Problems
from goptx.weaving.laws.kernel_laws import (
    barrier_ids_are_separate,
    code_has_its_kernel,
    converged_have_flows,
    converged_registers_are_declared,
    ends_are_reached,
    guards_are_set,
    kernels_have_flows,
    loops_have_one_entry,
    names_are_separate,
    nothing_is_lost,
    predicates_are_set,
    registers_are_declared,
    registers_bear_the_prefix,
    whole_warps_branch,
)  # fmt: skip
from goptx.weaving.laws.merge_laws import (
    merged_ends_are_reached,
    merged_has_a_flow,
    parts_are_the_code,
    paths_are_of_each,
    slices_are_short,
    slices_are_the_block,
    states_are_known,
    sync_groups_are_of_the_block,
)  # fmt: skip
from goptx.weaving.laws.schedule_laws import (
    instructions_have_origins,
    only_reconvergence_is_new,
    reads_are_the_same,
    schedule_has_the_code,
    sync_groups_keep_their_order,
)  # fmt: skip

Law = Callable[..., Problems]

LAWS: Mapping[str, tuple[Law, ...]] = {
    "link": (
        kernels_have_flows, names_are_separate, registers_bear_the_prefix, registers_are_declared, code_has_its_kernel,
    ),
    "shape": (kernels_have_flows, names_are_separate, registers_are_declared, guards_are_set),
    "simplify": (kernels_have_flows, names_are_separate, registers_are_declared, guards_are_set),
    "converge": (
        converged_have_flows, whole_warps_branch, converged_registers_are_declared, predicates_are_set, nothing_is_lost,
        ends_are_reached,
    ),
    "guard ranges": (converged_have_flows, predicates_are_set, ends_are_reached),
    "split loops": (converged_have_flows, whole_warps_branch, nothing_is_lost, ends_are_reached, loops_have_one_entry),
    "prepare barriers": (barrier_ids_are_separate,),
    "cut at waits": (slices_are_the_block,),
    "slice": (slices_are_the_block, slices_are_short),
    "merge": (merged_has_a_flow, states_are_known, paths_are_of_each, merged_ends_are_reached),
    "merged blocks": (parts_are_the_code, sync_groups_are_of_the_block),
    "schedule": (schedule_has_the_code, reads_are_the_same, sync_groups_keep_their_order),
    "reconverge": (only_reconvergence_is_new,),
    "emit": (instructions_have_origins,),
}  # fmt: skip
