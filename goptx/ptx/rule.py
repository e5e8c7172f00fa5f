"""The record of a rule in progress, the base class of the records in the generated parser.

It has the attributes of ANTLR's own `ParserRuleContext` except those of the parse tree, which goptx does not build.
"""

from __future__ import annotations

from typing import Any


class Rule:
    """`parentCtx` and `invokingState` are the rule's caller and the place of the call, `start` is its first token. The
    generated subclasses add the labels of the grammar to `__dict__`. `value` is the rule's value, once it has ended."""

    __slots__ = ("__dict__", "invokingState", "parentCtx", "start", "value")

    start: Any
    value: Any

    def __init__(self, parent: Rule | None = None, invoking_state: int = -1) -> None:
        self.parentCtx = parent
        self.invokingState = invoking_state

    def copyFrom(self, rule: Rule) -> None:
        """Takes the place of `rule` when its alternative is known."""
        self.parentCtx = rule.parentCtx
        self.invokingState = rule.invokingState
        self.start = rule.start
