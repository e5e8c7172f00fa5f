"""Finds the `.target`, `.version` and `.address_size` that several modules can share.

Requires: parsed modules. Ensures: the result runs every module's code, or `CannotLink` is raised.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from goptx.errors import CannotLink, InputError
from goptx.ptx.ir import Module

ARCHITECTURE = re.compile(r"sm_(\d+)([af]?)$")
FIRST_VERSION = {70: (6, 0), 75: (6, 3), 80: (7, 0), 86: (7, 1), 87: (7, 4), 88: (9, 0), 89: (7, 8), 90: (7, 8),
                 100: (8, 6), 101: (8, 6), 103: (8, 8), 107: (9, 4), 110: (9, 0), 120: (8, 7), 121: (8, 8)}  # fmt: skip
OWN_VERSION = (6, 0)  # vote.sync and barrier.sync, which goptx inserts
OWN_ARCH = 70  # independent thread scheduling


def common_target(modules: Sequence[Module], arch: str | None) -> tuple[str, ...]:
    """The architecture that all can run on: the highest, or `arch` if it is no lower."""
    parsed = []
    for module in modules:
        match = ARCHITECTURE.match(module.target[0])
        if not match:
            raise CannotLink(
                f"{module.at('.target')}: unknown target `{module.target[0]}`; expected sm_NN.", rule="common-target"
            )
        parsed.append((int(match[1]), match[2], module))
    if arch is not None:
        match = ARCHITECTURE.match(str(arch))
        if not match:
            raise InputError(f"`{arch}` is not an architecture such as sm_90.")
        wanted = (int(match[1]), match[2], None)
    else:
        wanted = max(((n, s, None) for n, s, _ in parsed), key=lambda a: (a[0], "fa".find(a[1] or "?")))
        if not wanted[1] and any(s == "f" and n // 10 == wanted[0] // 10 for n, s, _ in parsed):
            wanted = (wanted[0], "f", None)
    for number, suffix, module in parsed:
        same_family = suffix == "f" and number // 10 == wanted[0] // 10 and wanted[1] in ("a", "f")
        if (suffix and not same_family and (number, suffix) != wanted[:2]) or number > wanted[0]:
            reason = (
                "code for an architecture with a suffix runs on that one only" if suffix else "PTX runs upward only"
            )
            raise CannotLink(
                f"{module.at('.target')}: its target {module.target[0]} does not suit sm_{wanted[0]}{wanted[1]} "
                f"({reason}); compile all kernels for one architecture.",
                rule="common-target",
            )
    if wanted[0] < OWN_ARCH:
        raise CannotLink(
            f"{' and '.join(m.at('.target') for m in modules)}: weaving needs sm_{OWN_ARCH} or later (lanes that wait "
            f"for each other in divergent code); give arch=, for example sm_{OWN_ARCH}.",
            rule="common-target",
        )
    options = [o for m in modules for o in m.target[1:] if o != "debug"]
    if len({o for o in options if o.startswith("texmode")} | {None for m in modules if not m.target[1:]}) > 1 and any(
        o.startswith("texmode_independent") for o in options
    ):
        raise CannotLink(
            f"{' and '.join(m.at('.target') for m in modules)}: one has texmode_independent, the other has not; "
            "compile both alike.",
            rule="common-target",
        )
    return (f"sm_{wanted[0]}{wanted[1]}", *dict.fromkeys(options))


def common_address_size(modules: Sequence[Module]) -> int:
    """In bits."""
    sizes = {m.address_size: m for m in modules}
    if len(sizes) > 1:
        described = " and ".join(f"{m.at('.address_size')} has {size}-bit" for size, m in sizes.items())
        raise CannotLink(f"{described} addresses; compile both for the same `.address_size`.", rule="common-target")
    return modules[0].address_size


def common_version(modules: Sequence[Module], target: tuple[str, ...]) -> tuple[int, int]:
    match = ARCHITECTURE.match(target[0])
    assert match
    needed = FIRST_VERSION.get(int(match[1]), OWN_VERSION)
    if match[2]:
        needed = max(needed, (8, 0) if match[2] == "a" else (8, 8))
    return max([m.version for m in modules] + [needed, OWN_VERSION])
