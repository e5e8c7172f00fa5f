"""Gives again what was made before of the same kernels in the same way, without importing a pass (goptx/cache).

Kernels are the same if their text is, whatever their files are called: what was made of them names the files that are
given now. Only where names stand in the PTX (`.file`), in a note or in a warning, the result is kept for these names.
It is kept as plain data: PTX, and what cannot be read from that. `module` and `chosen` are made when asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial, wraps
from typing import TYPE_CHECKING, ParamSpec

from goptx.cache import store
from goptx.notices import check_kind, listen, listening, say_again
from goptx.results.fused_kernel import Origin, Woven
from goptx.results.plain_data import class_named, from_plain, name_of, plain
from goptx.weaving.request import Request, request

if TYPE_CHECKING:
    from goptx.ptx.ir import Module
    from goptx.sources.kernel_text import Chosen

P = ParamSpec("P")
Said = tuple[str, str]  # kind and text, as of notices.py


def remembered(make: Callable[P, Woven]) -> Callable[P, Woven]:
    """`make`, a function as request.py has it, but what it made is given again, with the warnings that it gave."""

    @wraps(make)
    def ask(*args: P.args, **kwargs: P.kwargs) -> Woven:
        # What is made on the way to something else is not kept for itself.
        asked = request(ask, args, kwargs) if store.switched_on() and not listening() else None
        if asked is None:
            return make(*args, **kwargs)
        read = partial(_revived, asked)
        found = store.find(asked.key, read) or store.find(asked.named, read)
        if found:
            woven, said = found
            for kind, text in said:
                say_again(kind, text)
        else:
            with listen() as heard:
                woven = asked.made()
            _keep(asked, woven, heard.said)
        return woven.identified(asked.key, asked.names)

    return ask


_LATER = ("module", "chosen")


def _keep(asked: Request, woven: Woven, said: Sequence[Said]) -> None:
    """But not what is no plain data."""
    own = [f.name for f in fields(woven) if f.name not in (*_LATER, "origins") and not f.name.startswith("_")]
    try:
        content = json.dumps({
            "kind": name_of(type(woven)),
            "ptx": woven.ptx,
            "entries": woven.entries,
            "said": said,
            "origins": [o and (o.kernel, o.line) for o in woven.origins],
            "fields": {name: plain(getattr(woven, name)) for name in own},
        })  # fmt: skip
    except TypeError:
        return
    is_named = any(json.dumps(name)[1:-1] in content for name in set(asked.names))
    store.keep(asked.named if is_named else asked.key, content.encode())


def _revived(asked: Request, content: bytes) -> tuple[Woven, list[Said]]:
    found = json.loads(content)
    said = [(kind, text) for kind, text in found["said"]]
    for kind, _ in said:
        check_kind(kind)
    held = {name: from_plain(value) for name, value in found["fields"].items()}
    names = dict(zip(held["report"].kernels, asked.names, strict=True))
    held["origins"] = tuple(o and Origin(o[0], names[o[0]], o[1]) for o in found["origins"])
    later = {"module": partial(_module, found["ptx"]), "chosen": partial(_chosen, asked)}
    kind = class_named(found["kind"])
    woven: Woven = kind.revived(held, later, ptx=found["ptx"], entries=tuple(found["entries"]))
    return woven, said


def _module(ptx: str) -> Module:
    """Lines in it are those of the text."""
    from goptx.ptx.parse import parse

    with listen(aloud=False):
        return parse(ptx)


def _chosen(asked: Request) -> tuple[Chosen, ...]:
    """Rarely asked for: weaving the kernels with others is kept under their identity."""
    with listen(aloud=False):
        return asked.made().chosen
