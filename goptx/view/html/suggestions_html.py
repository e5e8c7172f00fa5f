"""Suggestions for notebooks: the groups of kernels as a table."""

from __future__ import annotations

from goptx.strategies.estimates.suggest import HEAD, Suggestions
from goptx.view.html.elements_html import display, headline, line, table


def suggestions_html(suggestions: Suggestions) -> str:
    rows = [suggestion.cells for suggestion in suggestions]
    if suggestions and suggestions[0].gain > 1:
        first = f"Estimated to gain most: {' + '.join(suggestions[0].kernels)}, {suggestions[0].gain:.2f} times as fast"
    else:
        first = "No group is estimated to gain"
    refused = map(line, suggestions.not_estimated)
    return display(headline(first), table(HEAD, rows, words=(0, 1, 5)) if rows else "", *refused)
