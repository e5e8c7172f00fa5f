"""The site has the paths of the repository, so that one link works in both.

Pages and files are known by their paths from the root; in the site's addresses `docs/` is left out. What a page links
to outside docs/ comes into the site: Markdown as pages, all else as files; a folder means its README.md, and is no link
where it has none. In `nav` of mkdocs.yml a pattern such as examples/*.ipynb stands for all files that match.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?P<text>!?\[(?:[^\[\]]|\[[^\]]*\])*\])\((?P<path>(?!\w+:)[^)\s#]+)(?P<place>#[^)\s]*)?\)")
DATED = re.compile(r"(\d{4}-\d\d-\d\d)-(\w+)-(\w+)\.md")  # of results: DATE-GPU-NAME
SHOWN = (".csv", ".html", ".json", ".png", ".svg", ".txt")  # by any browser; source code is, as .txt


def on_config(config: MkDocsConfig) -> None:
    config.nav = list(_listed(config.nav or [], set()))


def _listed(nav: list[Any], taken: set[str]) -> Iterator[Any]:
    """The navigation with the files of its patterns, each where it comes first; a section without pages is left out."""
    for item in nav:
        match item:
            case str():
                found = [p.relative_to(ROOT).as_posix() for p in sorted(ROOT.glob(item))] if "*" in item else [item]
                yield from (_titled(path) for path in found if path not in taken)
                taken.update(found)
            case dict():
                ((title, held),) = item.items()
                inside = list(_listed(held if isinstance(held, list) else [held], taken))
                if inside:
                    yield {title: inside if isinstance(held, list) else inside[0]}


def _titled(path: str) -> str | dict[str, str]:
    """Results are told by what was measured, where and when; all else has its own title."""
    dated = DATED.fullmatch(posixpath.basename(path))
    return {f"{dated[3]} ({dated[2]}, {dated[1]})": path} if dated else path


def on_files(files: Files, config: MkDocsConfig) -> Files:
    found = Files([])
    for file in files:
        path = Path(file.abs_src_path) if file.abs_src_path else ROOT
        if not path.is_relative_to(ROOT / "docs"):  # the theme's
            found.append(file)
        elif not file.inclusion.is_excluded():
            found.append(_file(path, config))
    for uri in _named(config.nav or []):
        if found.get_file_from_path(uri) is None and (ROOT / uri).is_file():
            found.append(_file(ROOT / uri, config))
    pages = [file for file in found if file.src_uri.endswith((".md", ".ipynb"))]
    for file in pages:  # which grow
        for linked in _linked(file):
            if found.get_file_from_path(linked) is None:
                found.append(_file(ROOT / linked, config))
                if linked.endswith((".md", ".ipynb")):
                    pages.append(found.src_uris[linked])
    return found


def _named(nav: list[Any]) -> Iterator[str]:
    for item in nav:
        if isinstance(item, str):
            yield item
        else:
            for held in item.values():
                yield from _named(held if isinstance(held, list) else [held])


def _file(path: Path, config: MkDocsConfig) -> File:
    uri = path.relative_to(ROOT).as_posix()
    file = File(uri, str(ROOT), config.site_dir, config.use_directory_urls)
    file.dest_uri = file.dest_uri.removeprefix("docs/")
    if not uri.startswith("docs/"):
        file.inclusion = InclusionLevel.NOT_IN_NAV  # need not be there; of docs/, all pages have to
        if not file.is_documentation_page() and path.suffix not in SHOWN:
            file.dest_uri += ".txt"
    return file


def _linked(file: File) -> Iterator[str]:
    for link in LINK.finditer(file.content_string):
        path = _readme(_target(file, link["path"]))
        if (ROOT / path).is_file():
            yield path


def _target(file: File, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file.src_uri), path))


def _readme(path: str) -> str:
    return f"{path}/README.md" if (ROOT / path).is_dir() else path


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    def written(link: re.Match[str]) -> str:
        target = _target(page.file, link["path"])
        if not (ROOT / target).is_dir():
            return link[0]
        readme = f"{link['path'].rstrip('/')}/README.md{link['place'] or ''}"
        return f"{link['text']}({readme})" if (ROOT / target / "README.md").is_file() else link["text"][1:-1]

    return LINK.sub(written, markdown)
