"""Rules of functions, symbols and lines of the source, each to be broken; see run.py."""

from mutations.mutations import WEAVING, Mutation

CALLEES = "tests/weaving/test_callees.py"
LINES = "tests/weaving/test_locations.py"
EXITS = "tests/strategies/test_exits.py"

OF_CODE = (
    Mutation(
        "a call through a pointer leads to no function",
        f"{WEAVING}/link/call_graph.py",
        "pointed = kernel.symbols.values() if calls_indirectly(body) else ()",
        "pointed = ()",
        f"{CALLEES}::test_a_pointer_that_may_lead_to_a_barrier_is_refused[in another variable]",
    ),
    Mutation(
        "a table keeps the address of a function of which each kernel has its own",
        f"{WEAVING}/link/clone_functions.py",
        "if name in renames:",
        "if name in renames and False:",
        f"{CALLEES}::test_a_variable_cannot_hold_two_functions",
    ),
    Mutation(
        "what a pointer may lead to is left out of the woven module",
        f"{WEAVING}/link/symbols.py",
        "stack += addresses_taken(module.items) if calls_indirectly(symbol.body or ()) else ()",
        "pass",
        f"{CALLEES}::test_what_a_pointer_may_lead_to_is_there",
    ),
    Mutation(
        "lists of targets keep the old names",
        f"{WEAVING}/link/substitute.py",
        "return replace(statement, values=tuple(str(self.values.get(n, n)) for n in names))",
        "return statement",
        f"{CALLEES}::test_a_cloned_function_is_found_by_its_address_in_code_and_lists",
    ),
    Mutation(
        "files of the second module keep their numbers",
        f"{WEAVING}/link/source_lines.py",
        'here, *at = (f"{files[n]} {rest}" for n, rest in numbered)',
        'here, *at = (f"{n} {rest}" for n, rest in numbered)',
        f"{LINES}::test_files_are_numbered_anew_and_common_ones_once",
    ),
    Mutation(
        "what goptx inserts seems to come from the line before it",
        f"{WEAVING}/emit/debug_lines.py",
        "following.get(origin.kernel) if origin else None",
        "following.get(origin.kernel) if origin and origin.line else None",
        f"{LINES}::test_what_goptx_inserts_points_to_what_it_stands_for",
    ),
    Mutation(
        "an inlined location stands without that of its caller",
        f"{WEAVING}/emit/debug_lines.py",
        "if to.within and self.latest.get(to.within.where) != to.within:",
        "if to.within and False:",
        f"{LINES}::test_a_caller_stands_before_its_inlined_code",
    ),
    Mutation(
        "an inlined function leaves its line to what stands after it",
        f"{WEAVING}/link/inline.py",
        'case Directive(".loc" | ".loc_intermediate"):\n                continue',
        'case Directive(".no_loc"):\n                continue',
        f"{LINES}::test_inlined_functions_keep_their_lines",
    ),
    Mutation(
        "a hint for one load may stand before another",
        f"{WEAVING}/link/link.py",
        "code = tuple(s for s in flat.code if s not in callees and not _is_hint(s))",
        "code = tuple(s for s in flat.code if s not in callees)",
        "tests/weaving/test_link.py::test_pragmas_that_speak_of_the_kernel_alone_are_left_out[frequency 5]",
    ),
    Mutation(
        "a kernel may free the stack of another",
        f"{WEAVING}/link/stacks.py",
        "if restore and other:",
        "if restore and other and False:",
        "tests/weaving/test_stacks.py::test_a_kernel_that_frees_stack_is_not_woven_with_one_that_takes_some[looping-taking]",
    ),
    Mutation(
        "functions that end the kernel stay where they are",
        f"{WEAVING}/link/inline.py",
        "_waits(f) or any(exits(f.body or ()))",
        "_waits(f)",
        f"{EXITS}::test_the_other_kernel_goes_on[under a guard-weave]",
    ),
    Mutation(
        "a function that cannot be inlined may end the thread",
        f"{WEAVING}/link/link.py",
        "for ending in exits(function.body or ()):",
        "for ending in ():",
        f"{EXITS}::test_what_cannot_be_inlined_is_refused[calls itself]",
    ),
    Mutation(
        "on the emulator a function's `exit` is its `ret`",
        "goptx/emulator/decode.py",
        "return Done(thread=True)",
        "return Done()",
        f"{EXITS}::test_the_other_kernel_goes_on[before a barrier-weave]",
    ),
)
