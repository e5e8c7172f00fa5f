"""Rules of what is cached of earlier results, how each is broken, and the test that has to notice."""

from mutations.mutations import Mutation

DISK, KEYS, STORE = (f"goptx/cache/{name}.py" for name in ("disk", "keys", "store"))
DECISION = "goptx/strategies/auto_decision.py"
OF_DISK, OF_KEYS, OF_DECISION, OF_ASSEMBLY = (
    f"tests/cache/test_{name}.py" for name in ("disk", "keys", "auto_decision", "assembly")
)

OF_CACHE = (
    # the folder
    Mutation(
        "what is cut off or changed is found",
        DISK,
        "if head != _head(key, content):",
        "if False:",
        f"{OF_DISK}::test_truncated_entries[72]",
    ),
    Mutation(
        "what belongs to another key is found",
        DISK,
        "sha256(key.encode() + content)",
        "sha256(content)",
        f"{OF_DISK}::test_changed_entries[of_another_key]",
    ),
    Mutation(
        "what others may write is found",
        DISK,
        "return status.st_uid == os.geteuid() and not status.st_mode & 0o022",
        "return status.st_uid == os.geteuid()",
        f"{OF_DISK}::test_entries_that_others_wrote_or_may_write",
    ),
    Mutation(
        "reading does not count as use",
        DISK,
        "            os.utime(path)\n",
        "            pass\n",
        f"{OF_DISK}::test_entries_read_longest_ago_are_removed_first",
    ),
    Mutation(
        "a file is written under its own name",
        DISK,
        "            temporary.write_bytes(written)\n",
        "            (self.folder / key).write_bytes(written)\n            temporary.write_bytes(written)\n",
        f"{OF_DISK}::test_unfinished_entries_are_not_seen",
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
        f"{OF_DISK}::test_clearing_leaves_other_files",
    ),
    # keys
    Mutation(
        "parts that are cut differently have one digest",
        KEYS,
        '        whole.update(b"%d:" % len(content))\n',
        "",
        f"{OF_KEYS}::test_parts_are_distinguished",
    ),
    # the decision of auto
    Mutation(
        "goptx's code does not count",
        DECISION,
        '"auto", code, ',
        '"auto", ',
        f"{OF_DECISION}::test_changed_code_searches_anew",
    ),
    Mutation(
        "shapes do not count",
        DECISION,
        "repr(shapes), ",
        "",
        f"{OF_DECISION}::test_options_count[changed0]",
    ),
    Mutation(
        "names and lines of kernels do not count",
        DECISION,
        "repr((k.module.version, k.module.target, k.module.items, k.module.source))",
        "str(k.module)",
        f"{OF_DECISION}::test_kernels_count",
    ),
    # machine code
    Mutation(
        "what the assembler is called does not count",
        "goptx/device/assemble.py",
        "repr((arch, fmad, chosen.name, None if",
        "repr((arch, fmad, None if",
        f"{OF_ASSEMBLY}::test_each_part_of_the_key_counts",
    ),
    Mutation(
        "a cap that is written into the text does not count",
        "goptx/device/assemble.py",
        "None if capped is None else max_registers))",
        "capped is None))",
        f"{OF_ASSEMBLY}::test_each_part_of_the_key_counts",
    ),
)
