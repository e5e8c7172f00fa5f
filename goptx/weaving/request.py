"""Checks of the arguments of `weave` and the other strategies that do not depend on the kernels."""

from __future__ import annotations

from goptx.errors import InputError
from goptx.options import CHOICES, MERGES, PLACEMENTS, POLICIES, Choice, Merging, Placement, Policy, Slicing, is_whole


def policy_of(merge: Merging, policy: Policy | None) -> Policy:
    """The given policy, or the default one of the merge. Raises `InputError` for an unknown merge."""
    if merge not in MERGES:
        raise InputError(f"merge `{merge}` is unknown; expected one of {', '.join(MERGES)}.")
    return policy or ("paper" if merge == "paper" else "latency")


def check_published(**given: bool) -> None:
    """Raises `InputError` where an option is given that the published merge does not have."""
    for option in (name for name, is_given in given.items() if is_given):
        raise InputError(
            f'merge="paper" does not take `{option}`: the published merge has no such choice; leave `{option}` out, or '
            'use merge="safe".'
        )


def check_request(policy: Policy, slicing: Slicing, divergence: Choice | None, placement: Placement | None) -> None:
    """Raises `InputError` for arguments of `weave` that make no sense, whatever the kernels are."""
    if policy not in POLICIES:
        raise InputError(f"policy `{policy}` is unknown; expected one of {', '.join(POLICIES)}.")
    if divergence not in (None, *CHOICES):
        raise InputError(f"divergence `{divergence}` is unknown; expected one of {', '.join(CHOICES)}, or None.")
    if slicing not in ("adaptive", None) and not (is_whole(slicing) and slicing > 0):
        raise InputError(f'slicing `{slicing}` is unknown; expected "adaptive", a number of cycles above 0, or None.')
    if placement not in (None, *PLACEMENTS):
        raise InputError(f"placement `{placement}` is unknown; expected one of {', '.join(PLACEMENTS)}, or None.")
