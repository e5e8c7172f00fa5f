"""The rules by which displays of results look alike in JupyterLab, VS Code, on a page of MkDocs and alone.

All rules apply only within an element of classes `goptx` and `result`; they undo the rules of those pages for tables
and sections.
"""

from __future__ import annotations

from goptx.view.svg.theme import HUES, hue, variables

_RULES = """
{ font: 13px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--ground); padding: 10px 12px;
  border: 1px solid var(--line); border-radius: 6px; overflow-wrap: anywhere; text-align: left; }
.verdict em { font-style: italic; }
.head { font-size: 15px; margin: 0 0 6px; }
.verdict { font-size: 17px; font-weight: 600; line-height: 1.35; margin: 0 0 4px; }
.faint, caption { color: var(--faint); font-weight: 400; }
.wrong { color: var(--wrong); font-weight: 600; }
p { margin: 4px 0; font-size: 13px; }
code { font: 12px/1.5 ui-monospace, monospace; color: inherit; background: none; padding: 0; }
.wide { overflow-x: auto; scrollbar-color: var(--line) var(--ground); }
.wide svg { width: 100%; height: auto; display: block; }
.small { display: none; }
.box { max-height: 480px; overflow: auto; scrollbar-color: var(--line) var(--ground); }
.text.plain { white-space: pre; }
.text { font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; margin: 4px 0; }
table.rows { border-collapse: collapse; border: 0; margin: 6px 0; width: auto; font-size: 12.5px; line-height: 1.4;
  display: table; color: inherit; background: none; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
table.rows caption { caption-side: top; text-align: left; padding: 2px 0; }
table.rows tr:nth-child(n) { background: none; border: 0; }
table.rows th, table.rows td { padding: 2px 10px; text-align: right; white-space: nowrap; border: 0;
  border-bottom: 1px solid var(--line); vertical-align: baseline; line-height: 1.4;
  min-width: 0; background: none; color: inherit; }
table.rows th { font-weight: 600; color: var(--faint); }
table.rows th.word, table.rows td.word { text-align: left; }
table.rows td.word { white-space: pre-wrap; overflow-wrap: break-word; max-width: 60em; }
table.rows tr.best:nth-child(n) td { color: var(--chosen); font-weight: 600; }
details { margin: 6px 0 0; padding: 0; border: 0; background: none; box-shadow: none; font-size: 13px;
  overflow: visible; }
details > :not(summary) { margin-left: 14px; }
details > .wide:has(> svg) { margin-left: 0; }
summary { display: list-item; list-style: disclosure-closed inside; cursor: pointer; margin: 0; padding: 0; border: 0;
  background: none; font-weight: 600; min-height: 0; color: inherit; }
details[open] > summary { list-style-type: disclosure-open; }
summary::before, summary::after { content: none; }
.letter { font: 600 12px/1.5 ui-monospace, monospace; padding-left: 5px;
  border-left: 4px solid var(--own, transparent); }
.ptx { font: 12px/18px ui-monospace, monospace; }
.ptx details { font-size: inherit; }
.ptx .lines { content-visibility: auto; }
.ptx .lines > div { min-height: 18px; white-space: pre-wrap; overflow-wrap: anywhere; counter-increment: line;
  padding: 0 12px 0 9ch; text-indent: -9ch;
  border-left: 4px solid var(--own, transparent);
  background: color-mix(in srgb, var(--own, transparent) 9%, transparent); }
.ptx .lines > div::before { content: counter(line); display: inline-block; width: 5ch; margin-right: 1ch;
  text-indent: 0; text-align: right; color: var(--faint); }
.ptx .lines > div::after { content: none; }
.ptx .lines > div > i { font-style: normal; font-weight: 700; color: var(--own, var(--faint)); user-select: none;
  display: inline-block; width: 3ch; text-indent: 0; }
.ptx .nf { font-weight: 600; }
.ptx .kd, .ptx .nl { color: var(--hue5); font-weight: 600; }
.ptx .kt, .ptx .na, .ptx .p, .ptx .o { color: var(--faint); }
.ptx .m, .ptx .s { color: var(--hue4); }
.ptx .vm { color: var(--hue3); }
.ptx .c { color: var(--faint); font-style: italic; }
"""
# By the width of the page: pictures for narrow pages, and tables that break their words instead of leaving the page.
_NARROW = {
    900: """
.large { display: none; }
.small { display: block; }
""",
    600: """
{ padding: 8px; }
table.rows { font-size: 11px; }
table.rows th, table.rows td { padding: 2px; white-space: normal; }
table.rows th { font-size: 10px; }
table.rows td.word { overflow-wrap: anywhere; }
table.rows strong { white-space: nowrap; }
details > :not(summary) { margin-left: 4px; }
""",
}
_ROOT = ".goptx.result"


def _scoped(rules: str) -> str:
    """The rules with each selector within the root; rules that begin with a brace apply to the root itself."""
    made = []
    for rule in rules.strip().split("}\n"):
        selectors, _, body = rule.partition("{")
        scoped = ", ".join(f"{_ROOT} {one.strip()}".rstrip() for one in selectors.split(","))
        made.append(f"{scoped} {{{body.rstrip('}').replace(chr(10), ' ')}}}")
    return "\n".join(made)


STYLE = "\n".join(
    [
        variables(),
        _scoped(_RULES),
        *(f"@media (max-width: {width}px) {{ {_scoped(rules)} }}" for width, rules in _NARROW.items()),
        *(f"{_ROOT} .{hue(k)} {{ --own: var(--{hue(k)}); }}" for k in range(HUES)),
    ]
)
VOID_OF_PAGE = (
    f"{variables()} body.goptx {{ margin: 16px auto; max-width: 1248px; padding: 0 16px; background: var(--ground); }}"
)
