"""Rules of graphs of launches, how each is broken, and the test that has to notice."""

from mutations.mutations import Mutation

EFFECTS = "goptx/graph/node_effects.py"
CHOICE = "goptx/graph/group_choice.py"
PLACED = "goptx/graph/running/placed_graph.py"
SEARCH = "goptx/graph/running/graph_search.py"
LAUNCHED = "goptx/graph/running/launchable_graph.py"
OF_RUNNING = "tests/graph/test_running_graphs.py"
OF_EFFECTS = "tests/graph/test_graph_dependences.py"
OF_CHOICE = "tests/graph/test_optimize_graph.py"
OF_FOLDED = "tests/graph/test_folded_groups.py"

OF_GRAPHS = (
    Mutation(
        "a kernel that takes addresses from memory accesses only what its parameters lead to",
        EFFECTS,
        "if why := _untracked(found, entry):",
        "if (why := _untracked(found, entry)) and not found:",
        f"{OF_EFFECTS}::test_addresses_from_memory_may_be_any",
    ),
    Mutation(
        "a pointer leads to the extent that threads determine although another access is unknown",
        EFFECTS,
        "    start, end = whole or (0, LAST)",
        "    start, end = address, address + 4",
        f"{OF_EFFECTS}::test_an_unknown_extent_is_the_whole_allocation",
    ),
    Mutation(
        "launches of one module do not share its variables",
        EFFECTS,
        "if self.variables & other.variables and",
        "if False and",
        f"{OF_EFFECTS}::test_launches_of_one_module_share_its_variables",
    ),
    Mutation(
        "a group may lengthen the critical path",
        CHOICE,
        "contracted.path_with(seed, other) > limit",
        "False",
        f"{OF_CHOICE}::test_the_critical_path_does_not_become_longer",
    ),
    Mutation(
        "parameters are passed on although the new graph lacks the order that they need",
        LAUNCHED,
        "if not here[last] >> first & 1:",
        "if False:",
        f"{OF_RUNNING}::test_parameters_that_need_an_edge_are_refused",
    ),
    Mutation(
        "a fused kernel that leaves something else is taken",
        PLACED,
        "if not trial.different(whole):",
        "if trial.different(whole) is not None:",
        f"{OF_RUNNING}::test_a_wrong_fused_kernel_is_not_taken",
    ),
    Mutation(
        "a group may be added although the graph of groups has a cycle with it",
        PLACED,
        "return bool(nx.is_directed_acyclic_graph(whole))",
        "return True",
        f"{OF_RUNNING}::test_groups_that_would_form_a_cycle_are_not_added",
    ),
    Mutation(
        "groups are measured after the budget is spent",
        SEARCH,
        "            if self.placing.limit.left() <= 0:\n                self.untried.append(group)",
        "            if False:\n                self.untried.append(group)",
        f"{OF_RUNNING}::test_groups_beyond_the_budget_are_named",
    ),
    Mutation(
        "the time of nodes without PTX is that of the others",
        "goptx/graph/running/unknown_time.py",
        "for ms, without in parts if without)",
        "for ms, without in parts if not without)",
        f"{OF_RUNNING}::test_the_time_of_nodes_without_ptx_is_reported",
    ),
    Mutation(
        "graphs are timed by a single launch",
        "goptx/device/graphs/replayed.py",
        "return timed(self._stream, several) / REPLAYS",
        "return timed(self._stream, launch)",
        f"{OF_RUNNING}::test_launches_in_a_row_are_compared",
    ),
    Mutation(
        "a group is taken in another form that leaves something else",
        SEARCH,
        "if new and self.placing.check and (why := self.trial.different(graph)):",
        "if new and not self.placing.check and (why := self.trial.different(graph)):",
        f"{OF_FOLDED}::test_another_form_that_differs_is_not_taken",
    ),
    Mutation(
        "a graph that gained by chance is taken",
        SEARCH,
        "    best = search.final(",
        "    best = found[-1] or search.final(",
        f"{OF_RUNNING}::test_a_graph_that_gained_by_chance_is_not_taken",
    ),
    Mutation(
        "more kernels run at once than fit",
        "goptx/graph/running/graph_orders.py",
        "sum(filled[i] for i in running) <= most",
        "max(filled[i] for i in running) <= 2",
        "tests/graph/test_graph_orders.py::test_no_more_kernels_run_at_once_than_fit",
    ),
    Mutation(
        "the parameters of a team's kernels are in another order",
        "goptx/graph/group_making.py",
        "_node(id_, [nodes[k] for k in team.members], team.woven)",
        "_node(id_, [nodes[k] for k in reversed(team.members)], team.woven)",
        f"{OF_FOLDED}::test_teams_of_several_kernels_leave_the_same",
    ),
    Mutation(
        "bits that may be set in both operands of `or` are added",
        "goptx/analysis/values/ranges.py",
        "return a.natural and b.natural and not a.mask & b.mask",
        "return a.natural and b.natural",
        "tests/analysis/test_ranges.py::test_bits_that_are_never_set_are_known",
    ),
    Mutation(
        "a difference is a remainder whatever was subtracted",
        "goptx/analysis/values/ranges.py",
        "if quotient and quotient.operands[1:] == (number, divisor) and",
        "if quotient and",
        "tests/analysis/test_ranges.py::test_a_remainder_that_is_written_as_a_difference",
    ),
)
