"""Weaves the kernels when the package is built, so that whoever installs it needs goptx no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

import goptx


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        woven = goptx.weave(
            root / "kernels" / "saxpy.ptx",
            root / "kernels" / "mix.ptx",
            name="saxpy_mix",
            shapes=[goptx.Shape(4096, 256), goptx.Shape(2048, 128)],
        )
        made = root / "build" / "saxpy_mix.ptx"
        made.parent.mkdir(exist_ok=True)
        made.write_text(woven.ptx, encoding="utf-8", newline="\n")
        build_data["force_include"][str(made)] = "fused_demo/saxpy_mix.ptx"
