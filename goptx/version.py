"""The version of goptx."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """As it was installed; "unknown" where it runs from a folder."""
    try:
        return version("goptx")
    except PackageNotFoundError:
        return "unknown"
