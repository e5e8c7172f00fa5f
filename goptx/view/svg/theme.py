"""The colours of all pictures and tables, light and dark, as variables of CSS.

The dark colours are used if the reader's system asks for them, or the page does: JupyterLab, VS Code and Material for
MkDocs mark light and dark by an attribute or a class of an element around the output.
"""

from __future__ import annotations

LIGHT = {
    "ground": "#ffffff", "ink": "#1f2430", "faint": "#6b7280", "line": "#cbd0d9", "track": "#eef0f4",
    "chosen": "#be185d", "wrong": "#b91c1c",
    "hue0": "#3b6ea8", "hue1": "#b45309", "hue2": "#4d7c2f", "hue3": "#8a4fa8", "hue4": "#0f766e", "hue5": "#475569",
}  # fmt: skip
DARK = {
    "ground": "#14171e", "ink": "#e6e8ee", "faint": "#9aa1ae", "line": "#3a4150", "track": "#232833",
    "chosen": "#f472b6", "wrong": "#f87171",
    "hue0": "#7fb0e6", "hue1": "#eeb04c", "hue2": "#9fce7d", "hue3": "#cda3ea", "hue4": "#5ec4b6", "hue5": "#a9b6c9",
}  # fmt: skip
HUES = 6
_LIGHT_PAGES = ('[data-jp-theme-light="true"]', '[data-md-color-scheme="default"]', ".vscode-light")
_DARK_PAGES = ('[data-jp-theme-light="false"]', '[data-md-color-scheme="slate"]', ".vscode-dark")


def hue(number: int) -> str:
    """The name of the colour of the kernel or series with this number, for `var()` and as a class; colours repeat."""
    return f"hue{number % HUES}"


def variables() -> str:
    """CSS by which elements of class `goptx`, and all elements within them, have the colours as variables, such as
    `var(--ink)`."""
    light, dark = (" ".join(f"--{name}: {value};" for name, value in colours.items()) for colours in (LIGHT, DARK))
    return "\n".join(
        [
            f".goptx {{ {light} }}",
            f"@media (prefers-color-scheme: dark) {{ .goptx {{ {dark} }} }}",
            f"{', '.join(f'{page} .goptx' for page in _LIGHT_PAGES)} {{ {light} }}",
            f"{', '.join(f'{page} .goptx' for page in _DARK_PAGES)} {{ {dark} }}",
        ]
    )
