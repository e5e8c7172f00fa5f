"""The version of goptx."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """The installed version; "unknown" where goptx runs from a folder."""
    try:
        return version("goptx")
    except PackageNotFoundError:
        return "unknown"
