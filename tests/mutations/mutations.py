"""Rules of the merger, how each is broken, and the test that has to notice. Read by run.py and test_mutations.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of one file.

    rule: what it breaks. file: its path from the root. before: a text that stands in it once; after: what takes its
    place. test: the pytest node id of a test that fails then.
    """

    rule: str
    file: str
    before: str
    after: str
    test: str


WEAVING = "goptx/weaving"
LANES = "goptx/weaving/converge"
PAIR = "tests/emulator/test_constructs.py::test_woven_pairs"
DIVERGENCE = "tests/weaving/test_divergence.py::test_woven_is_right_or_refused"
LINK = "tests/weaving/test_link.py"
CONVERGE = "tests/weaving/test_converge.py"
MERGE = "tests/weaving/test_merge.py"
GROWTH = "tests/weaving/test_growth.py"
SPLIT = "tests/weaving/test_split.py"
GUARDS = "tests/weaving/test_guards.py"
LIST_SCHEDULE = "tests/weaving/test_list_schedule.py"
PROJECTION = "tests/weaving/test_projection.py"
SCHEDULE = "tests/weaving/test_schedule.py"
SKIP = "tests/weaving/test_skip_ended.py"
SLICE = "tests/weaving/test_slice.py"

MUTATIONS = (
    # names, symbols and resources
    Mutation(
        "registers of both kernels get one prefix",
        f"{WEAVING}/link/link.py",
        "prefix = first = _free_prefix(letter.lower(), letter, taken)\n",
        'prefix = first = "k"\n',
        f"{PAIR}[0]",
    ),
    Mutation(
        "renaming makes one name of two registers",
        "goptx/ptx/flatten.py",
        "while self._taken(name, count):",
        "while self._taken(name, count) and False:",
        "tests/ptx/test_flatten.py::test_inner_range_shadows_only_the_numbers_it_holds",
    ),
    Mutation(
        "the guard of an instruction keeps its old register",
        "goptx/ptx/flatten.py",
        "new_guard = Guard(predicate, guard.negated)",
        "new_guard = guard",
        f"{PAIR}[0]",
    ),
    Mutation(
        "parameters are taken for each other",
        f"{WEAVING}/link/link.py",
        "for p, n in zip(entry.parameters, parameters, strict=True)}",
        "for p, n in zip(entry.parameters, parameters[::-1], strict=True)}",
        f"{PAIR}[0]",
    ),
    Mutation(
        "globals of different modules that look alike are shared",
        f"{WEAVING}/link/symbols.py",
        "if one != other or not isinstance(one, Function):\n        return False",
        "if one != other or not isinstance(one, Function):\n        return one == other",
        f"{LINK}::test_globals_of_different_modules_are_different",
    ),
    Mutation(
        "a new name of a symbol may be one of the same module",
        f"{WEAVING}/link/symbols.py",
        "rename[_name(item)] = _free(_name(item), position, own | known.keys())",
        "rename[_name(item)] = _free(_name(item), position, known.keys())",
        f"{LINK}::test_a_new_name_is_a_free_one[1]",
    ),
    Mutation(
        "pointers among a module's globals keep the old names",
        f"{WEAVING}/link/symbols.py",
        "Name(rename.get(p.text, p.text)) if isinstance(p, Name) else p for p in item.init",
        "p for p in item.init",
        f"{LINK}::test_globals_of_different_modules_are_different",
    ),
    Mutation(
        "dynamic shared arrays of both kernels overlap",
        f"{WEAVING}/shapes/shared_pool.py",
        "if sum(bool(o.dynamic) for o in own) > 1:",
        "if sum(bool(o.dynamic) for o in own) > 2:",
        f"{LINK}::test_dynamic_shared_memory_of_a_callee_counts",
    ),
    Mutation(
        "static shared memory is added up without alignment",
        f"{WEAVING}/shapes/shared_pool.py",
        "places[variable.name] = size + -size % variable.alignment",
        "places[variable.name] = size",
        f"{LINK}::test_static_shared_memory_is_padded",
    ),
    Mutation(
        "the looser of two launch bounds holds",
        f"{WEAVING}/link/launch_bounds.py",
        "fewest = min(",
        "fewest = max(",
        f"{LINK}::test_launch_bounds_hold_for_both[.maxntid 256, 1, 1-.maxntid 128, 1, 1-result0]",
    ),
    # lanes that have ended
    Mutation(
        "lanes that end stay, and the others end",
        "goptx/weaving/converge/retire.py",
        "goes_on = end.guard if end.taken == stays else",
        "goes_on = end.guard if end.taken != stays else",
        f"{PAIR}[1]",
    ),
    Mutation(
        "which lanes end is read after the arm that may change it",
        "goptx/weaving/converge/retire.py",
        "lanes.append(name, code)",
        "lanes.append(arm_blocks[-1] if arm_blocks else name, code)",
        f"{CONVERGE}::test_an_arm_that_ends_may_overwrite_what_the_branch_read",
    ),
    Mutation(
        "a warp that ends does not arrive at barriers",
        "goptx/weaving/converge/retire.py",
        "needed.isdisjoint(graph.succ[n]) else Uniformity.CTA for",
        "needed.isdisjoint(graph.succ[n]) else Uniformity.WARP for",
        f"{CONVERGE}::test_a_warp_that_ends_still_arrives_at_barriers",
    ),
    Mutation(
        "threads that have ended run loops",
        "goptx/weaving/converge/converge.py",
        "        skip_ended(lanes)\n",
        "",
        f"{SKIP}::test_threads_that_ended_run_no_loop[loop]",
    ),
    Mutation(
        "a warp that has ended skips barriers of the CTA",
        "goptx/weaving/converge/ended/skip_ended.py",
        "if not waits and not together:",
        "if True:",
        f"{SKIP}::test_threads_that_ended_run_no_loop[loop, then a barrier]",
    ),
    Mutation(
        "a warp that has ended skips a loop that decides about a barrier",
        "goptx/weaving/converge/ended/skip_ended.py",
        "if _alike_at_barriers(lanes) != alike:",
        "if False:",
        f"{SKIP}::test_threads_that_ended_run_no_loop[loop that counts the trips of a loop with a barrier]",
    ),
    Mutation(
        "a loop in a loop that lanes leave one by one is not seen",
        "goptx/weaving/converge/ended/skip_ended.py",
        " or any(inner < body for inner in every)",
        "",
        f"{SKIP}::test_threads_that_ended_run_no_loop[loop in a loop that lanes leave one by one]",
    ),
    Mutation(
        "ended threads bring the wrong value to a reduction",
        "goptx/weaving/converge/guards.py",
        "negated != facts.reduces_by_and",
        "negated == facts.reduces_by_and",
        f"{PAIR}[17]",
    ),
    Mutation(
        "ended threads bring values of their own to a reduction",
        "goptx/weaving/converge/guards.py",
        "yield from self._neutral(item)",
        "yield item",
        f"{PAIR}[17]",
    ),
    Mutation(
        "warp instructions wait for lanes that have ended",
        "goptx/weaving/converge/guards.py",
        "yield replace(item, operands=(*item.operands[:-1], Name(lanes)))",
        "yield item",
        f"{PAIR}[19]",
    ),
    Mutation(
        "activemask counts lanes that have ended",
        "goptx/weaving/converge/guards.py",
        "(name, name, Name(self.running_lanes))",
        "(name, name, name)",
        f"{CONVERGE}::test_ended_lanes_are_taken_out_of_masks",
    ),
    Mutation(
        "the mask of running lanes stays as at the start",
        "goptx/weaving/converge/running_lanes.py",
        "return [ballot(self.running_lanes, self.running)] if self.running_lanes else []",
        "return []",
        f"{PAIR}[19]",
    ),
    # guards and predicates
    Mutation(
        "what has effects is guarded by the lanes that do not run it",
        "goptx/weaving/converge/guards.py",
        "guard = Guard(Name(predicate))",
        "guard = Guard(Name(predicate), True)",
        f"{PAIR}[1]",
    ),
    Mutation(
        "a predicated instruction loses its own condition",
        "goptx/weaving/converge/guards.py",
        "yield from self.fresh.conjunction(also, mask, item.guard)",
        "yield from self.fresh.conjunction(also, mask, Guard(Name(mask)))",
        f"{CONVERGE}::test_a_predicated_instruction_keeps_its_own_condition",
    ),
    Mutation(
        "a negated condition counts as it stands",
        "goptx/weaving/converge/predicate_code.py",
        "if not right.negated:",
        "if True:",
        f"{PAIR}[1]",
    ),
    Mutation(
        "lanes that do not run a block lose registers that they still need",
        "goptx/weaving/converge/guards.py",
        "bool(written(item) & preserved)",
        "False",
        f"{PAIR}[3]",
    ),
    Mutation(
        "stores run for all lanes",
        "goptx/weaving/converge/guards.py",
        "if facts.may_fault_or_store or facts.row.ends",
        "if facts.row.ends",
        f"{PAIR}[1]",
    ),
    Mutation(
        "a call under the guard of the lanes that are left keeps its `.uni`",
        "goptx/weaving/converge/guards.py",
        'return opcode.replace("call.uni", "call")',
        "return opcode",
        f"{GUARDS}::test_woven_with_another[without parameters]",
    ),
    Mutation(
        "loads of parameters never fault",
        "goptx/weaving/converge/guards.py",
        'facts.space == "param" and not lies_within(item, self.parameters)',
        "False",
        f"{GUARDS}::test_woven_with_another[at a register]",
    ),
    Mutation(
        "hints run for all lanes",
        "goptx/ptx/opcodes.py",
        "return accesses or self.row.hint",
        "return accesses",
        f"{GUARDS}::test_hints_are_for_addresses_of_threads_that_run[prefetchu.L1 [%rd9];]",
    ),
    Mutation(
        "in the braces of a call nothing but the call is guarded",
        "goptx/weaving/converge/guards.py",
        "not inside._needs_guard(statement, frozenset())",
        'facts_of(statement.opcode).base != "call"',
        f"{GUARDS}::test_woven_with_another[accesses in its braces]",
    ),
    Mutation(
        "in braces within braces calls run for all lanes",
        "goptx/weaving/converge/guards.py",
        "body.append(inside._guarded_call(statement, mask))",
        "body.append(statement)",
        f"{GUARDS}::test_woven_with_another[in braces within braces]",
    ),
    Mutation(
        "the two sides of a branch run under each other's predicate",
        "goptx/weaving/converge/predicate.py",
        "guard = end.guard if end.taken == target else",
        "guard = end.guard if end.taken != target else",
        f"{PAIR}[3]",
    ),
    Mutation(
        "a side within a side forgets the outer condition",
        "goptx/weaving/converge/predicate.py",
        "return lanes.fresh.conjunction(edge, under, guard)",
        "return lanes.fresh.conjunction(edge, guard.predicate.text, guard)",
        f"{PAIR}[4]",
    ),
    Mutation(
        "of the cases of a switch that lead to one place, the second is forgotten",
        "goptx/weaving/converge/predicate.py",
        "for case in cases[1:]:",
        "for case in cases[2:]:",
        f"{DIVERGENCE}[switch_by_lane-predicate-guard_with_work]",
    ),
    Mutation(
        "`.uni` of the kernel stays where lanes go on that have ended",
        "goptx/weaving/converge/guards.py",
        "end = replace(end, uniform=False)",
        "end = replace(end, uniform=end.uniform)",
        f"{CONVERGE}::test_a_promise_of_the_active_lanes_does_not_hold_for_ended_ones",
    ),
    # loops that lanes leave one by one
    Mutation(
        "a loop goes on only while all lanes are in it",
        "goptx/weaving/converge/predicate_code.py",
        'Instruction("vote.sync.any.pred"',
        'Instruction("vote.sync.all.pred"',
        f"{PAIR}[6]",
    ),
    Mutation(
        "lanes that were not to enter a loop run it",
        "goptx/weaving/converge/vote.py",
        "copy(inside, outer) if outer else set_true(inside)",
        "set_true(inside)",
        f"{PROJECTION}::test_lanes_that_have_ended_enter_no_loop",
    ),
    Mutation(
        "lanes that have left a loop lose what it computed",
        "goptx/weaving/converge/vote.py",
        "lanes.preserve(name, needed)",
        "lanes.preserve(name, frozenset())",
        f"{PAIR}[8]",
    ),
    Mutation(
        "lanes that have left a loop come back",
        "goptx/weaving/converge/vote.py",
        "lanes.fresh.conjunction(inside, inside, stays)",
        "lanes.fresh.conjunction(inside, stays.predicate.text, stays)",
        f"{PAIR}[6]",
    ),
    Mutation(
        "one side of a branch overwrites what the other needs",
        "goptx/weaving/converge/vote.py",
        "later |= live[side]",
        "later |= live[join]",
        f"{PROJECTION}::test_each_side_of_a_branch_finds_what_was_before_it",
    ),
    # parking
    Mutation(
        "a parked kernel runs on",
        f"{WEAVING}/merging/product.py",
        "(p.code if r else () for p, r in",
        "(p.code for p, r in",
        f"{PROJECTION}::test_regions_after_an_early_return[park]",
    ),
    Mutation(
        "a loop that steps by the size of the grid counts as any other",
        f"{WEAVING}/merging/choose.py",
        "often = max(max(found.values()) - before, LEAST)",
        "often = UNKNOWN",
        "tests/weaving/test_merge.py::test_a_loop_that_runs_once_stands_beside_the_longest_block[grid]",
    ),
    Mutation(
        "a block that runs once may follow itself",
        f"{WEAVING}/merging/choose.py",
        "again = onward if second in self.weights[1].once else self.pairs.forward[1][second]",
        "again = self.pairs.forward[1][second]",
        "tests/weaving/test_merge.py::test_a_loop_that_runs_once_stands_beside_the_longest_block[grid]",
    ),
    Mutation(
        "beside a region that has no sides the other kernel runs",
        f"{WEAVING}/merging/choose.py",
        "return (Move.FIRST, Move.SECOND)\n",
        "return (Move.BOTH, Move.FIRST, Move.SECOND)\n",
        f"{PROJECTION}::test_what_stands_beside_a_parked_loop_runs_once[mask inside-None]",
    ),
    Mutation(
        "warp instructions stand in copies, which lanes reach one by one",
        f"{WEAVING}/merging/choose.py",
        "facts_of(c.opcode).duplicable and not facts_of(c.opcode).row.blocking",
        "c.opcode",
        f"{PROJECTION}::test_what_stands_beside_a_region_runs_once[choose-warp_reduce-duplicate]",
    ),
    Mutation(
        "the other kernel stands on one side of a region only",
        "goptx/weaving/converge/park.py",
        "return Region(region.entry, blocks, region.leave, tuple(sides.values()))",
        "return Region(region.entry, blocks, region.leave, tuple(sides.values())[:1])",
        f"{PROJECTION}::test_what_stands_beside_a_region_runs_once[choose-straight-duplicate]",
    ),
    Mutation(
        "lanes that go around a region miss the other kernel's code",
        "goptx/weaving/converge/park.py",
        "(*region.sides, past) if region.sides else ()",
        "region.sides",
        f"{PROJECTION}::test_regions_after_an_early_return[None]",
    ),
    Mutation(
        "a side that ends the kernel is for threads, too, that ended in a loop before it",
        "goptx/weaving/converge/retire.py",
        "for side in written(item) if lanes.fresh.is_side(side))",
        "for side in written(item) if False)",
        "tests/weaving/test_ends_in_loops.py::test_they_do_not_run_the_side_that_ends_later[weave]",
    ),
    Mutation(
        "lanes that end within a region go on through it",
        "goptx/weaving/converge/park.py",
        "region = replace(region, blocks=_left_by_ended(lanes, region))",
        "pass",
        "tests/random_kernels/test_regressions.py::test_regression[ends_within_a_region]",
    ),
    Mutation(
        "lanes that have ended enter a region",
        "goptx/weaving/converge/park.py",
        '    mask = lanes.masks.get(head, "")\n',
        '    mask = ""\n',
        f"{PROJECTION}::test_regions_after_an_early_return[None]",
    ),
    Mutation(
        "the other kernel stands on the sides of a loop",
        "goptx/weaving/converge/park.py",
        'if lanes.forced != "park" and _is_acyclic(region):',
        'if lanes.forced != "park":',
        f"{PROJECTION}::test_what_stands_beside_a_parked_loop_runs_once[mask inside-None]",
    ),
    Mutation(
        "a warp instruction in a region waits for lanes that may have ended",
        "goptx/weaving/converge/park.py",
        "if is_warp_wide(i) and not is_ours(i)), None)",
        "if is_warp_wide(i) and is_ours(i)), None)",
        f"{DIVERGENCE}[return_in_loop_before_shuffle-park-guard_with_work]",
    ),
    Mutation(
        "a barrier in a region does without threads that have ended",
        "goptx/weaving/converge/park.py",
        "if not barriers or not (lanes.running or ending):",
        "if True:",
        f"{CONVERGE}::test_a_barrier_in_a_region_to_which_ended_threads_do_not_come_is_refused",
    ),
    Mutation(
        "a kernel of which nothing is known runs first",
        f"{WEAVING}/merging/merge.py",
        "(each.last, len(",
        "(not each.last, len(",
        "tests/weaving/test_unknown.py::test_it_stands_once_and_after_the_other_kernel[second]",
    ),
    # uniformity
    Mutation(
        "thread numbers count as uniform",
        "goptx/analysis/uniformity.py",
        '("%tid", "%laneid"',
        '("%laneid"',
        f"{PAIR}[1]",
    ),
    Mutation(
        "what a branch decides counts as uniform",
        "goptx/analysis/uniformity.py",
        "        rules.define(keys, least, [control], of_control)\n",
        "",
        "tests/analysis/test_uniformity.py::test_control_goes_through_nested_branches",
    ),
    Mutation(
        "a branch depends on what its registers are computed from directly alone",
        "goptx/analysis/uniformity.py",
        "            waiting += more\n",
        "",
        "tests/analysis/test_uniformity.py::test_a_branch_is_as_uniform_as_what_it_reads[gelu-any]",
    ),
    Mutation(
        "a vote of some lanes counts as uniform",
        "goptx/analysis/uniformity.py",
        "return full and (of_all or",
        "return (of_all or",
        "tests/analysis/test_uniformity.py::test_other_warp_operations_are_divergent"
        "[redux.sync.add.u32 %r1, %r9, 0x0000ffff;]",
    ),
    Mutation(
        "`.uni` counts for the whole CTA",
        "goptx/analysis/uniformity.py",
        "_WARP_AT_MOST: _Passes = (_CTA, _WARP_DATA, _WARP, _WARP_DATA, _WARP)",
        "_WARP_AT_MOST: _Passes = (_CTA, _CTA, _CTA, _CTA, _CTA)",
        "tests/analysis/test_uniformity.py::test_uni_of_an_indexed_branch",
    ),
    # the woven flow
    Mutation(
        "carry chains are parted",
        f"{WEAVING}/schedule/schedule.py",
        "if _sets_carry(code[i]):",
        "if False:",
        f"{SCHEDULE}::test_carry_chains_are_not_divided_by_the_other_kernel",
    ),
    Mutation(
        "a register is written before all have read it",
        f"{WEAVING}/schedule/dependences.py",
        "for reader in readers.pop(r, ()):",
        "for reader in ():",
        f"{LIST_SCHEDULE}::test_what_must_not_pass[add.u32 %r3, %r2, 1; ld.global.u32 %r2, [%rd2];]",
    ),
    Mutation(
        "loads rise above a barrier",
        f"{WEAVING}/schedule/dependences.py",
        "if facts.is_ordered:\n        return _KINDS",
        'if facts.is_ordered:\n        return ("near",)',
        f"{LIST_SCHEDULE}::test_what_must_not_pass[bar.sync 0; ld.global.u32 %r2, [%rd2];]",
    ),
    Mutation(
        "loads rise above a store that may write what they read",
        f"{WEAVING}/schedule/dependences.py",
        "if kind in orderer:",
        "if False:",
        f"{LIST_SCHEDULE}::test_what_must_not_pass[st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd2];]",
    ),
    Mutation(
        "the mean block latency counts a block that is not in the text",
        f"{WEAVING}/merging/slice.py",
        "/ max(len(text), 1))",
        "/ (len(text) + 1))",
        f"{SLICE}::test_straight_code_is_one_slice",
    ),
    Mutation(
        "the branch at the end of a block has no latency",
        f"{WEAVING}/merging/slice.py",
        "(*grouped[-1], *terminator(block.end))]",
        "grouped[-1]]",
        f"{SLICE}::test_the_terminator_counts_in_the_last_slice",
    ),
    Mutation(
        "pairs of blocks part carry chains",
        f"{WEAVING}/merging/merged_blocks.py",
        "return facts.uses_carry",
        "return False",
        f"{SCHEDULE}::test_a_carry_flag_cannot_wait_for_two_barriers_with_another_kernels_between[paper]",
    ),
    Mutation(
        "slices part carry chains",
        f"{WEAVING}/merging/slice.py",
        "grouped = units(block.code)",
        "grouped = [(c,) for c in block.code]",
        f"{PROJECTION}::test_carry_flags_are_not_mixed_up[1]",
    ),
    Mutation(
        "what is larger than its limits is taken",
        f"{WEAVING}/merging/choose.py",
        "or not limits.allow(small):",
        "or limits.blocks < 0:",
        f"{GROWTH}::test_the_limit_of_blocks_holds_too",
    ),
    Mutation(
        "of two kernels on different levels the one that lies deeper waits",
        f"{WEAVING}/merging/nesting.py",
        "if first.level > second.level else",
        "if first.level < second.level else",
        f"{GROWTH}::test_the_less_room_the_less_is_woven[nested_loops+uniform_switch]",
    ),
    Mutation(
        "copies of a loop's blocks lead into the loop",
        f"{WEAVING}/converge/single_entry.py",
        "end=self.blocks[name].end.retarget(copies))",
        "end=self.blocks[name].end)",
        f"{SPLIT}::test_paths_stay_and_loops_are_single_entry",
    ),
    Mutation(
        "loops with two entries are left",
        f"{WEAVING}/converge/single_entry.py",
        "if len(entries) > 1:",
        "if len(entries) > 2:",
        f"{MERGE}::test_splitting_keeps_every_path",
    ),
    Mutation(
        "kernels that run as they are keep irreducible loops",
        "goptx/weaving/dispatch.py",
        "else split_as_it_is(made, limits)",
        "else made",
        f"{SPLIT}::test_kernels_that_run_as_they_are_get_single_entry_loops[interleave]",
    ),
    Mutation(
        "labels are what passes call blocks",
        f"{WEAVING}/emit/emit.py",
        'label = re.sub(r"[^\\w$]", "_", label, flags=re.ASCII)',
        "pass",
        "tests/weaving/test_emit.py::test_labels_are_identifiers_and_distinct",
    ),
    Mutation(
        "a branch that falls through where it was taken is not inverted",
        f"{WEAVING}/emit/emit.py",
        "Guard(guard.predicate, not guard.negated), line)]",
        "Guard(guard.predicate, guard.negated), line)]",
        f"{PAIR}[11]",
    ),
    Mutation(
        "branches on which lanes part are marked `.uni`",
        f"{WEAVING}/emit/emit.py",
        '"bra.uni" if uniform else "bra"',
        '"bra.uni"',
        f"{PAIR}[20]",
    ),
    Mutation(
        "where both kernels branch, the second goes one way",
        f"{WEAVING}/merging/product.py",
        "second.retarget({s: self._name((f, s)) for s in seconds})",
        "second.retarget({s: self._name((f, seconds[0])) for s in seconds})",
        f"{MERGE}::test_both_branching_gives_four_paths",
    ),
)
