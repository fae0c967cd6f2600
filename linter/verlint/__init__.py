"""verlint: find what is wrong in RL post-training experiments before the cluster does."""

__version__ = "0.1.0"

TYPE_CHECKING = False  # as `typing` says it; nothing is imported before it is asked for
if TYPE_CHECKING:
    from verlint.api import FORMATS, CheckError, Finding, Report, Severity, Summary, Verdict, check, render

__all__ = [
    "FORMATS",
    "CheckError",
    "Finding",
    "Report",
    "Severity",
    "Summary",
    "Verdict",
    "__version__",
    "check",
    "render",
]


def __getattr__(name: str) -> object:
    """The names of `verlint.api`, which is loaded when the first of them is used."""
    if name in __all__:
        api = __import__("verlint.api", fromlist=[name])
        return getattr(api, name)
    raise AttributeError(f"module 'verlint' has no attribute {name!r}")
