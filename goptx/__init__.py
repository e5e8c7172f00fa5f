"""goptx weaves GPU kernels at PTX level: one kernel in which every thread runs a thread of each, interleaved.

    woven = goptx.weave(Path("a.ptx"), Path("b.ptx"))    `fuse` has other strategies, `tune` measures which is fastest
    print(woven.report)                                  what was done, and how fast it is expected to be
    goptx.check(Path("a.ptx"), Path("b.ptx"))            compares it with the kernels alone, on an emulator
    goptx.prove(woven)                                   proves it for every input
    woven.launch(stream, args_a, args_b, grid=1024, block=256)

Importing goptx imports neither CUDA nor numpy: names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from goptx.errors import (
    AssemblyError,
    CannotLink,
    CannotWeave,
    CheckFailed,
    DependentKernels,
    DeviceError,
    EmulationFault,
    GoptxError,
    InputError,
    PtxSyntaxError,
)

if TYPE_CHECKING:
    from goptx.adapters import torch as torch
    from goptx.checking.certify import prove
    from goptx.checking.check import check
    from goptx.emulator.emulate import emulate
    from goptx.graph.graph_dependences import parallelize_graph
    from goptx.graph.graph_description import Graph
    from goptx.graph.graph_emulation import emulate_graph
    from goptx.graph.optimized_graph import optimize_graph
    from goptx.latency.table import load_table
    from goptx.launch.shape import Shape
    from goptx.region.fusion import Fusion, fusion
    from goptx.results.fused_kernel import Woven
    from goptx.sources.collecting import collect
    from goptx.sources.nvrtc import compile_cuda
    from goptx.sources.read import read
    from goptx.strategies.batch import batch
    from goptx.strategies.coarsen import coarsen
    from goptx.strategies.estimates.suggest import suggest
    from goptx.strategies.fuse import fuse
    from goptx.tuning.best import replay
    from goptx.tuning.cluster.all_pairs import tune_all
    from goptx.tuning.profile import profile
    from goptx.tuning.register_sweep import sweep
    from goptx.tuning.tune import tune
    from goptx.weaving.can_weave import can_weave
    from goptx.weaving.weave import weave

_HOMES = {  # where each name is; no folder has the name of a public function, since its import would hide the function
    "Fusion": "goptx.region.fusion",
    "Graph": "goptx.graph.graph_description",
    "Shape": "goptx.launch.shape",
    "Woven": "goptx.results.fused_kernel",
    "batch": "goptx.strategies.batch",
    "can_weave": "goptx.weaving.can_weave",
    "check": "goptx.checking.check",
    "coarsen": "goptx.strategies.coarsen",
    "collect": "goptx.sources.collecting",
    "compile_cuda": "goptx.sources.nvrtc",
    "emulate": "goptx.emulator.emulate",
    "emulate_graph": "goptx.graph.graph_emulation",
    "fuse": "goptx.strategies.fuse",
    "fusion": "goptx.region.fusion",
    "load_table": "goptx.latency.table",
    "optimize_graph": "goptx.graph.optimized_graph",
    "parallelize_graph": "goptx.graph.graph_dependences",
    "profile": "goptx.tuning.profile",
    "prove": "goptx.checking.certify",
    "read": "goptx.sources.read",
    "replay": "goptx.tuning.best",
    "suggest": "goptx.strategies.estimates.suggest",
    "sweep": "goptx.tuning.register_sweep",
    "tune": "goptx.tuning.tune",
    "tune_all": "goptx.tuning.cluster.all_pairs",
    "weave": "goptx.weaving.weave",
}

__all__ = [
    "AssemblyError",
    "CannotLink",
    "CannotWeave",
    "CheckFailed",
    "DependentKernels",
    "DeviceError",
    "EmulationFault",
    "Fusion",
    "GoptxError",
    "Graph",
    "InputError",
    "PtxSyntaxError",
    "Shape",
    "Woven",
    "batch",
    "can_weave",
    "check",
    "coarsen",
    "collect",
    "compile_cuda",
    "emulate",
    "emulate_graph",
    "fuse",
    "fusion",
    "load_table",
    "optimize_graph",
    "parallelize_graph",
    "profile",
    "prove",
    "read",
    "replay",
    "suggest",
    "sweep",
    "tune",
    "tune_all",
    "weave",
]


if not TYPE_CHECKING:  # to type checkers every name would exist

    def __getattr__(name: str) -> Any:
        if name == "torch":  # what goptx has for it, without an import of torch
            return import_module("goptx.adapters.torch")
        if name not in _HOMES:
            raise AttributeError(f"module 'goptx' has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
