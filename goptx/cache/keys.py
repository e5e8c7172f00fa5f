"""Keys: digests of everything that a result depends on, including goptx's own code."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def digest(*parts: str | bytes) -> str:
    """64 hexadecimal digits that differ for different parts, also if their concatenation is the same."""
    whole = sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else part.encode(errors="surrogatepass")  # file names may need it
        whole.update(b"%d:" % len(content))
        whole.update(content)
    return whole.hexdigest()


@cache
def code() -> str:
    """The digest of goptx's code and latency tables, as this process first found them, and of the release of networkx,
    since passes depend on its order of nodes. So any change of these, and any other version of goptx, makes results
    anew. "" where the sources cannot be read."""
    own = sorted(path for path in _PACKAGE.rglob("*.py") if path.name[0] != ".")  # temporary files of editors
    tables = [path for at in (_PACKAGE, _PACKAGE.parent) for path in sorted(at.glob("latency_tables/*.toml"))]
    networkx = find_spec("networkx")
    release = [Path(networkx.origin)] if networkx and networkx.origin else []  # the file with the release
    names = [path.relative_to(_PACKAGE).as_posix() for path in own] + [path.name for path in (*tables, *release)]
    try:
        contents = [path.read_bytes() for path in (*own, *tables, *release)]
    except OSError:  # while goptx is being installed
        return ""
    return digest(*names, *contents) if own else ""
