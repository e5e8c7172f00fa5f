"""The record of a rule in progress, from which those in the generated parser derive.

It keeps what ANTLR's own `ParserRuleContext` keeps but for the parse tree, which goptx does not build.
"""

from __future__ import annotations

from typing import Any


class Rule:
    """`parentCtx` and `invokingState` say where the rule was called, `start` is its first token; the generated
    subclasses add the labels of the grammar to `__dict__`. `value` is what the rule read, once it has ended."""

    __slots__ = ("__dict__", "invokingState", "parentCtx", "start", "value")

    start: Any
    value: Any

    def __init__(self, parent: Rule | None = None, invoking_state: int = -1) -> None:
        self.parentCtx = parent
        self.invokingState = invoking_state

    def copyFrom(self, rule: Rule) -> None:
        """Takes the place of `rule`, when it is known which alternative it is."""
        self.parentCtx = rule.parentCtx
        self.invokingState = rule.invokingState
        self.start = rule.start
