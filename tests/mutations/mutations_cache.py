"""Rules of what is kept of earlier results, how each is broken, and the test that has to notice."""

from mutations.mutations import Mutation

DISK, KEYS, STORE = (f"goptx/cache/{name}.py" for name in ("disk", "keys", "store"))
REQUEST, REMEMBERED = (f"goptx/weaving/{name}.py" for name in ("request", "remembered"))
OF_DISK, OF_KEYS, OF_REMEMBERED, OF_TOLD_APART, OF_ASSEMBLY = (
    f"tests/cache/test_{name}.py" for name in ("disk", "keys", "remembered", "told_apart", "assembly")
)

OF_CACHE = (
    # the folder
    Mutation(
        "what is cut off or changed is found",
        DISK,
        "if head != _head(key, content):",
        "if False:",
        f"{OF_DISK}::test_what_is_cut_off[72]",
    ),
    Mutation(
        "what belongs to another key is found",
        DISK,
        "sha256(key.encode() + content)",
        "sha256(content)",
        f"{OF_DISK}::test_what_is_changed[of_another_key]",
    ),
    Mutation(
        "what others may write is found",
        DISK,
        "return status.st_uid == os.geteuid() and not status.st_mode & 0o022",
        "return status.st_uid == os.geteuid()",
        f"{OF_DISK}::test_what_others_wrote_or_may_write",
    ),
    Mutation(
        "reading does not count as use",
        DISK,
        "            os.utime(path)\n",
        "            pass\n",
        f"{OF_DISK}::test_what_was_read_longest_ago_goes_first",
    ),
    Mutation(
        "a file is written under its own name",
        DISK,
        "            temporary.write_bytes(written)\n",
        "            (self.folder / key).write_bytes(written)\n            temporary.write_bytes(written)\n",
        f"{OF_DISK}::test_what_is_being_written_is_not_seen",
    ),
    Mutation(
        "small files are never counted",
        DISK,
        "(len(written) * _SHARE << 32)",
        "(len(written) << 32)",
        f"{OF_DISK}::test_the_size_stays_bounded_however_small_entries_are",
    ),
    Mutation(
        "clearing removes whatever lies there",
        DISK,
        "if _OURS.fullmatch(file.name) and",
        "if",
        f"{OF_DISK}::test_clearing_leaves_what_is_not_ours",
    ),
    # keys
    Mutation(
        "parts that are cut differently have one digest",
        KEYS,
        '        whole.update(b"%d:" % len(content))\n',
        "",
        f"{OF_KEYS}::test_parts_are_told_apart",
    ),
    Mutation(
        "goptx's code does not count",
        REQUEST,
        '"woven", code, ',
        '"woven", ',
        f"{OF_TOLD_APART}::test_changed_code_makes_all_anew",
    ),
    Mutation(
        "options do not count",
        REQUEST,
        "asked, *beside",
        "*beside",
        f"{OF_TOLD_APART}::test_options_tell_calls_apart",
    ),
    Mutation(
        "files are read again when they are woven",
        REQUEST,
        'given.update({"sources": sources} if',
        'given.update({"sources": given["sources"]} if',
        f"{OF_TOLD_APART}::test_a_file_that_changes_meanwhile_is_woven_as_it_was",
    ),
    Mutation(
        "lines of modules do not count",
        REQUEST,
        'return repr(replace(module, source=""))',
        "return str(module)",
        f"{OF_REMEMBERED}::test_modules_are_sources_too",
    ),
    Mutation(
        "specifications beside the files do not count",
        REQUEST,
        'if options.get("partition") and options.get("tunable") is None else ()',
        "if False else ()",
        f"{OF_TOLD_APART}::test_specifications_beside_the_files_count_where_they_are_read",
    ),
    # results
    Mutation(
        "names of files that stand in a result do not count",
        REMEMBERED,
        "asked.named if is_named else asked.key",
        "asked.key",
        f"{OF_TOLD_APART}::test_where_a_name_stands_it_is_the_right_one[note]",
    ),
    Mutation(
        "warnings are given once",
        REMEMBERED,
        "                say_again(kind, text)\n",
        "                pass\n",
        f"{OF_TOLD_APART}::test_warnings_are_given_again",
    ),
    Mutation(
        "what a warning stopped is kept",
        REMEMBERED,
        "            with listen() as heard:\n",
        "            with listen(aloud=False) as heard:\n",
        f"{OF_TOLD_APART}::test_warnings_may_be_errors",
    ),
    Mutation(
        "what the assembler is called does not count",
        "goptx/device/assemble.py",
        "repr((arch, fmad, name, None if",
        "repr((arch, fmad, None if",
        f"{OF_ASSEMBLY}::test_each_of_what_it_follows_from_counts",
    ),
    Mutation(
        "a cap that is written into the text does not count",
        "goptx/device/assemble.py",
        "None if capped is None else max_registers))",
        "capped is None))",
        f"{OF_ASSEMBLY}::test_each_of_what_it_follows_from_counts",
    ),
)
