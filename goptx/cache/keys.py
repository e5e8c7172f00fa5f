"""Keys: digests of all that a result follows from, goptx's own code included."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def digest(*parts: str | bytes) -> str:
    """64 hexadecimal digits that are others for other parts, or for the same cut differently."""
    whole = sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else part.encode(errors="surrogatepass")  # names of files may be so
        whole.update(b"%d:" % len(content))
        whole.update(content)
    return whole.hexdigest()


@cache
def code() -> str:
    """Of goptx's code and latency tables, as this process found them first, and of the release of networkx, whose
    orders of nodes passes follow: with any change there, and so with any version of goptx, results are made anew. ""
    where the sources cannot be read."""
    own = sorted(path for path in _PACKAGE.rglob("*.py") if path.name[0] != ".")  # which editors put there
    tables = [path for at in (_PACKAGE, _PACKAGE.parent) for path in sorted(at.glob("latency_tables/*.toml"))]
    networkx = find_spec("networkx")
    release = [Path(networkx.origin)] if networkx and networkx.origin else []  # the file that states it
    names = [path.relative_to(_PACKAGE).as_posix() for path in own] + [path.name for path in (*tables, *release)]
    try:
        contents = [path.read_bytes() for path in (*own, *tables, *release)]
    except OSError:  # just being installed
        return ""
    return digest(*names, *contents) if own else ""
