"""Registers how each kind of result is displayed (goptx/display.py)."""

from __future__ import annotations

from goptx import display
from goptx.anatomy.activity import Activity
from goptx.anatomy.blocks import Anatomy
from goptx.anatomy.timeline import Timeline
from goptx.checking.verdict import Check
from goptx.device.sweep import Sweep
from goptx.emulator.emulation import Emulation
from goptx.graph.graph_description import Graph
from goptx.latency.table import LatencyTable
from goptx.measuring.profiling.profile_result import Profile
from goptx.ptx.ir import Module
from goptx.region.capture_report import CaptureReport
from goptx.region.captured import CapturedFusion
from goptx.region.fusion import Fusion, RegionReport
from goptx.results.decision import Decision
from goptx.results.fused_kernel import Woven
from goptx.results.report import Report
from goptx.strategies.estimates.suggest import Suggestions
from goptx.tuning.best import Best
from goptx.tuning.cluster.pairs_table import PairsTable
from goptx.tuning.trials import Table
from goptx.view.html.check_html import check_html
from goptx.view.html.emulation_html import emulation_html
from goptx.view.html.latency_html import latency_html
from goptx.view.html.module_html import module_html
from goptx.view.html.profile_html import profile_html
from goptx.view.html.region_html import capture_html, captured_html, done_html, fusion_html
from goptx.view.html.report_html import decision_html, report_html
from goptx.view.html.suggestions_html import suggestions_html
from goptx.view.html.sweep_html import sweep_html
from goptx.view.html.tuning_html import best_html, pairs_html, table_html
from goptx.view.html.woven_html import refusal_html, woven_html
from goptx.view.listing import listing
from goptx.view.svg.activity_svg import activity_svg
from goptx.view.svg.flow_svg import anatomy_svg
from goptx.view.svg.graph_svg import graph_svg
from goptx.view.svg.timeline_svg import timeline_svg
from goptx.weaving.can_weave import Refusal

display.text.register(Module, lambda module: listing(module).rstrip())

display.html.register(Best, best_html)
display.html.register(CaptureReport, capture_html)
display.html.register(CapturedFusion, captured_html)
display.html.register(Check, check_html)
display.html.register(RegionReport, done_html)
display.html.register(Emulation, emulation_html)
display.html.register(Fusion, fusion_html)
display.html.register(LatencyTable, latency_html)
display.html.register(Module, module_html)
display.html.register(PairsTable, pairs_html)
display.html.register(Profile, profile_html)
display.html.register(Refusal, lambda refusal: refusal_html(refusal.reason))
display.html.register(Report, report_html)
display.html.register(Suggestions, suggestions_html)
display.html.register(Sweep, sweep_html)
display.html.register(Table, table_html)
display.html.register(Decision, decision_html)
display.html.register(Woven, woven_html)

display.svg.register(Activity, activity_svg)
display.svg.register(Anatomy, anatomy_svg)
display.svg.register(Graph, graph_svg)
display.svg.register(Timeline, timeline_svg)
