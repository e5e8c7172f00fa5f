#!/usr/bin/env python3
"""Looks at pictures and pages in Chromium, 400 and 1280 pixels wide. Fails where a text leaves its box or picture or
lies over another one, and where a page or a picture has a scrollbar.

    PYTHONPATH=tests .ci/pictures.py [--save FOLDER]    writes the pages there too

tests/view/test_geometry.py asserts the same of many more pictures by the widths of one font; here the browser says
where texts are. Needs Chromium or Chrome, and what the tests need.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from html import escape, unescape
from pathlib import Path
from typing import Any

from anatomy.results import NAMES, result
from view import made_pictures
from view.geometry import Box, Layout, problems
from view.test_results import SWEEP, TABLE

from goptx.view.html.elements_html import display, page, picture
from goptx.view.svg.activity_svg import activity_svg
from goptx.view.svg.flow_svg import anatomy_svg
from goptx.view.svg.timeline_svg import timeline_svg

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (400, 1280)
MADE = range(6)  # made-up results of each kind
LIMIT = 400  # seconds
# Opens all sections; for each picture that is shown, its size, texts and boxes; for each scrolling box, its width.
LOOK = """
const within = (e, around) => {
  const r = e.getBoundingClientRect();
  return [r.left - around.left, r.top - around.top, r.right - around.left, r.bottom - around.top];
};
const shown = e => e.getClientRects().length > 0;
const look = page => {
  page.querySelectorAll('details').forEach(d => { d.open = true; });
  const root = page.documentElement;
  return {
    page: [root.scrollWidth, root.clientWidth],
    scrolled: [...page.querySelectorAll('.wide, .box')].filter(e => shown(e) && e.scrollWidth > e.clientWidth + 1)
      .map(e => [e.scrollWidth, e.clientWidth, e.querySelector('svg') ? 'a picture' : e.innerText.slice(0, 60)]),
    pictures: [...page.querySelectorAll('svg')].filter(shown).map(svg => {
      const around = svg.getBoundingClientRect();
      const found = tag => [...svg.querySelectorAll(tag)].filter(shown).map(
        e => [...within(e, around), tag === 'text' ? e.textContent : '', e.getAttribute('class') || '']);
      return { size: [around.width, around.height], natural: svg.viewBox.baseVal.width,
               texts: found('text'), boxes: found('rect') };
    }),
  };
};
window.onload = () => {
  const found = [...document.querySelectorAll('iframe')].map(f => [f.title, f.clientWidth, look(f.contentDocument)]);
  document.body.textContent = JSON.stringify(found);
};
"""


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of each page."""
    for name in NAMES:
        yield name, page(name, result(name)._repr_html_())
    yield "sweep", page("sweep", SWEEP._repr_html_())
    yield "tuned", page("tuned", TABLE._repr_html_())
    kinds: dict[str, Callable[[Any, float], str]] = {
        "timeline": timeline_svg, "activity": activity_svg, "anatomy": anatomy_svg,
    }  # fmt: skip
    for kind, draw in kinds.items():
        made = (picture(partial(draw, getattr(made_pictures, kind)(number))) for number in MADE)
        yield f"made {kind}", page(kind, display(*made))
    yield "charts", page("charts", display(*(picture(made_pictures.chart(number).svg) for number in MADE)))


def looked_at(shown: dict[str, str]) -> list[tuple[str, int, dict[str, Any]]]:
    """What the browser says of each page in each width."""
    frames = "".join(
        f'<iframe title="{escape(name)}" width="{width}" height="800" frameborder="0" srcdoc="{escape(text)}"></iframe>'
        for name, text in shown.items()
        for width in WIDTHS
    )
    with tempfile.TemporaryDirectory(prefix="goptx-pictures-") as folder:
        path = Path(folder) / "pages.html"
        path.write_text(f"<!DOCTYPE html><meta charset=utf-8><script>{LOOK}</script><body>{frames}", encoding="utf-8")
        browser = next(filter(None, map(shutil.which, BROWSERS)), "chromium")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        flags += [f"--user-data-dir={folder}/profile", "--dump-dom"]
        done = subprocess.run(
            [browser, *flags, path.as_uri()], capture_output=True, text=True, check=True, timeout=LIMIT
        )
    found: list[tuple[str, int, dict[str, Any]]] = json.loads(
        unescape(re.findall(r"<body>(\[.*\])", done.stdout, re.S)[0])
    )
    return found


def wrong(width: int, seen: dict[str, Any]) -> Iterator[str]:
    whole, room = seen["page"]
    if whole > room:
        yield f"the page scrolls: {whole} > {room}"
    yield from (
        f"{what} scrolls: {wide} > {room}"
        for wide, room, what in seen["scrolled"]
        if width > 1000 or what == "a picture"
    )
    for one in seen["pictures"]:
        scale = one["natural"] / one["size"][0]
        texts = tuple(_box(box, scale, letters=True) for box in one["texts"])
        boxes = tuple(_box(box, scale) for box in one["boxes"])
        yield from problems(Layout(one["natural"], one["size"][1] * scale, texts, boxes))


def _box(box: list[Any], scale: float, letters: bool = False) -> Box:
    """The box in the picture's own pixels. A line of text is higher than its letters."""
    left, top, right, bottom = (scale * x for x in box[:4])
    if letters:
        if bottom - top <= right - left or len(box[4]) < 3:
            top, bottom = top + 0.18 * (bottom - top), bottom - 0.04 * (bottom - top)
        else:  # along the vertical axis of a chart
            left, right = left + 0.18 * (right - left), right - 0.04 * (right - left)
    return Box(left, top, right, bottom, box[4], frozenset(box[5].split()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    shown = dict(pages())
    if options.save:
        options.save.mkdir(parents=True, exist_ok=True)
        for name, text in shown.items():
            (options.save / f"{name}.html").write_text(text, encoding="utf-8")
    try:
        seen = looked_at(shown)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"the browser does not run here, so nobody looked at the pictures: {error}"[:500])
        return 0
    failed = 0
    for name, width, one in seen:
        for problem in wrong(width, one):
            failed += 1
            print(f"FAILED {name} at {width}: {problem}")
    pictures = sum(len(one["pictures"]) for _, _, one in seen)
    texts = sum(len(picture["texts"]) for _, _, one in seen for picture in one["pictures"])
    print(f"{len(shown)} pages at {' and '.join(map(str, WIDTHS))} pixels: {pictures} pictures with {texts} texts")
    return 1 if failed or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
