"""Which PTX an assembler of which CUDA takes, as the manual's release history has it."""

from __future__ import annotations

from collections.abc import Sequence

Version = tuple[int, int]


def newest_ptx(cuda: Sequence[int]) -> Version | None:
    """The newest `.version` that the assembler of that CUDA release takes; None where that is not known."""
    major, minor, *_ = (*cuda, 0, 0)
    if major == 12:  # 12.5 and 12.6 both have PTX 8.5
        return 8, minor if minor < 6 else minor - 1
    first = {9: (6, 0), 10: (6, 3), 11: (7, 0), 13: (9, 0)}.get(major)
    return (first[0], first[1] + minor) if first else None


def oldest_cuda(ptx: Version) -> Version | None:
    """The first CUDA release whose assembler takes that `.version`; None where that is not known."""
    releases = ((major, minor) for major in range(9, 14) for minor in range(10))
    return next((r for r in releases if (newest := newest_ptx(r)) is not None and newest >= ptx), None)
