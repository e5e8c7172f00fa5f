"""Suggestions for notebooks: the groups of kernels as a table."""

from __future__ import annotations

from goptx.strategies.estimates.suggest import Suggestions
from goptx.view.html.elements_html import display, headline, line, table

HEAD = ("kernels", "strategy", "gain", "least", "most", "why")


def suggestions_html(suggestions: Suggestions) -> str:
    rows = [
        (" + ".join(s.kernels), s.strategy, f"{s.gain:.2f}", f"{s.least:.2f}", f"{s.most:.2f}", s.reason)
        for s in suggestions
    ]
    if suggestions and suggestions[0].gain > 1:
        first = f"Estimated to gain most: {' + '.join(suggestions[0].kernels)}, {suggestions[0].gain:.2f} times as fast"
    else:
        first = "No group is estimated to gain"
    refused = [line(f"not estimated: {name}: {reason}") for name, reason in suggestions.refused.items()]
    return display(headline(first), table(HEAD, rows, words=(0, 1, 5)) if rows else "", *refused)
