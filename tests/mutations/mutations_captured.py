"""Rules of regions that capture their stream, and of comparing; how each is broken, and the test that has to notice."""

from mutations.mutations import Mutation

REGION, TESTS = "goptx/region", "tests/region"

OF_CAPTURES = (
    Mutation(
        "a chain goes on where the graph branches",
        f"{REGION}/chains.py",
        "chain is not None and following[before[0]] == [node] and",
        "chain is not None and",
        f"{TESTS}/test_chains.py::test_every_order_is_preserved",
    ),
    Mutation(
        "a chain goes along an edge that waits for less than the node",
        f"{REGION}/chains.py",
        " and (before[0], node) not in partial",
        "",
        f"{TESTS}/test_chains.py::test_a_chain_ends_where_it_is_long_enough_or_the_edge_waits_for_less",
    ),
    Mutation(
        "what comes after a chain does not wait for it",
        f"{REGION}/chains.py",
        "tuple(node for node in following[chain[-1]] if node not in removed)",
        "()",
        f"{TESTS}/test_chains.py::test_every_order_is_preserved",
    ),
    Mutation(
        "a temporary of several groups is placed in registers",
        f"{REGION}/captured.py",
        "if len(users) == 1:",
        "if users:",
        f"{TESTS}/test_captured.py::test_a_temporary_of_several_groups_stays_in_memory",
    ),
    Mutation(
        "pointers of others are taken for arrays of their own",
        f"{REGION}/captured.py",
        "            extents[i] = extent[0], *whole\n",
        "            extents[i] = extent\n",
        f"{TESTS}/test_captured.py::test_pointers_of_others_into_one_allocation_are_not_distinguished",
    ),
    Mutation(
        "pointers of others lead to memory of any size",
        f"{REGION}/captured.py",
        "            if whole is None:\n                return None\n",
        "            if whole is None:\n                continue\n",
        f"{TESTS}/test_captured.py::test_pointers_of_others_into_one_allocation_are_not_distinguished",
    ),
    Mutation(
        "launches of any kind are recognised",
        f"{REGION}/captured.py",
        "if kernel and kernel.plain and kernel.table else None",
        "if kernel else None",
        f"{TESTS}/test_captured.py::test_kernels_that_are_not_recognised",
    ),
    Mutation(
        "nodes are taken out of a graph that allocates memory",
        f"{REGION}/captured.py",
        "        if self.graph.fixed:\n            return {}\n",
        "",
        f"{TESTS}/test_captured.py::test_kernels_that_are_not_recognised",
    ),
    Mutation(
        "what was captured is launched although something waited for it",
        f"{REGION}/captured.py",
        "        if graph is None and (error is None or isinstance(error, Exception)):\n",
        "        if graph is None and error is not None:\n",
        f"{TESTS}/test_captured.py::test_waiting_inside_launches_nothing",
    ),
    Mutation(
        "memory is as several runs leave it",
        f"{REGION}/fused_comparison.py",
        "        try:\n            saved.restore()\n        finally:\n            saved.free()\n",
        "        saved.free()\n",
        f"{TESTS}/test_comparison.py::test_memory_is_as_if_launched_once",
    ),
    Mutation(
        "each repeat goes on with what the one before left",
        f"{REGION}/fused_comparison.py",
        "                saved.restore()\n                found",
        "                found",
        f"{TESTS}/test_comparison.py::test_memory_is_as_if_launched_once",
    ),
    Mutation(
        "raw pointers are taken for arrays of no size",
        f"{REGION}/fused_comparison.py",
        "            if raw or passed_by_value(param):\n",
        "            if passed_by_value(param):\n",
        f"{TESTS}/test_comparison.py::test_what_is_not_compared",
    ),
    Mutation(
        "a barrier is left out without the caller's word",
        "goptx/weaving/dependent/kernel_dependences.py",
        "if j in waits and not self.no_barriers else flow",
        "if j in waits and self.no_barriers else flow",
        "tests/strategies/test_dependences.py::test_what_stays_within_a_cta_gets_a_barrier",
    ),
)
