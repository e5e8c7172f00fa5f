"""Notebooks as pages: as they were saved, with what they printed and showed; none is run.

Requires: repository.py before it, which brings the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PLACE = '<div class="notebook-output" id="output-{}"></div>'
HTML = ("text/html", "image/svg+xml")  # what is best comes first
FENCE = "~~~~~~~~"


class Notebook(File):
    """A page, of which `shown` has the HTML that no Markdown parser is to see."""

    def is_documentation_page(self) -> bool:
        return True


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for file in [f for f in files if f.src_uri.endswith(".ipynb")]:
        page = Notebook(file.src_uri, file.src_dir, config.site_dir, config.use_directory_urls)
        page.dest_uri = file.src_uri.replace(".ipynb", ".html")
        files.remove(file)
        files.append(page)
    return files


def on_page_read_source(page: Page, config: MkDocsConfig) -> str | None:
    if not isinstance(page.file, Notebook):
        return None
    notebook = json.loads(page.file.content_string)
    language = notebook["metadata"].get("language_info", {}).get("name", "python")
    return "\n\n".join(_markdown(notebook["cells"], language))


def _markdown(cells: list[Any], language: str) -> Iterator[str]:
    shown = 0
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        elif cell["cell_type"] == "code" and source.strip():
            yield f"{FENCE}{language}\n{source}\n{FENCE}"
            for _ in filter(None, map(_html, cell["outputs"])):
                yield PLACE.format(shown)
                shown += 1


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if isinstance(page.file, Notebook):
        cells = json.loads(page.file.content_string)["cells"]
        outputs = filter(None, (_html(output) for cell in cells for output in cell.get("outputs", ())))
        for n, output in enumerate(outputs):
            place = PLACE.format(n)
            html = html.replace(place, place.replace("><", f">{output}<"))
    return html


def _html(output: Any) -> str:
    """One output of a cell; "" for what says nothing."""
    if output["output_type"] == "stream":
        return _text("".join(output["text"]))
    if output["output_type"] == "error":
        return _text(f"{output['ename']}: {output['evalue']}")
    data = output["data"]
    for kind in HTML:
        if kind in data:
            return "".join(data[kind])
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    return _text("".join(data.get("text/plain", "")))


def _text(said: str) -> str:
    return f"<pre>{escape(said.rstrip())}</pre>" if said.strip() else ""
