"""The command `verlint`: finds the verb, loads that verb's module only, and turns every failure into exit code 2."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as `typing` says it, but that module alone would double the time of `verlint --version`
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

OK, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130

VERBS = {
    "check": "find what is wrong in launchers and experiment specs",
    "rule": "explain a rule: why it exists, a bad and a good example, how to fix",
    "lsp": "the language server for editors",
    "rules": "list all rules",
    "graph": "the stages of an experiment with what they read, write and need",
    "schema": "print the JSON Schema of experiment specs or of the settings, for editors",
    "init": "write settings, a drafted spec and the pre-commit snippet for a checkout",
    "inputs": "check experience lists, system prompts and data roots before a run",
    "plan": "a staged plan of an experiment, with what is still to be decided; nothing is executed",
    "show": "what a launcher would run: commands, conditions, values and where they come from",
    "completion": "print the script that completes words in bash, zsh or fish",
}
"""Each verb with its line in the help; the module of `verlint.cli` with its name has `add_parser` and `run`."""

DESCRIPTION = """\
Find what is wrong in RL post-training experiments (VeRL launchers and experiment specs)
before the cluster does. Nothing of what is checked is ever run."""

EPILOG = """\
examples:
  verlint check .                       check everything here
  verlint check scripts/train.sh        check one launcher
  verlint rule VL203                    why, bad and good example, how to fix

exit codes: 0 clean, 1 findings, 2 wrong call, wrong settings or a fault of verlint itself"""


class UsageError(Exception):
    """A call that cannot be carried out; the text is for the user."""


def complain(text: object) -> None:
    """Say something on standard error; what steers a terminal is shown as escapes."""
    from verlint.report.display import visible_lines

    print(visible_lines(str(text)), file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code: 0 clean, 1 findings, 2 usage, settings or internal error."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        if arguments in (["--version"], ["-V"]):
            from verlint import __version__

            print(f"verlint {__version__}")
            return OK
        if arguments[:1] == ["check"]:
            from verlint.cache.calls import kept

            return kept(arguments, _run)
        return _run(arguments)
    except BrokenPipeError:
        drop_output()
        return OK
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("VERLINT_TRACEBACK") == "1":
            raise
        from verlint.header import PackError

        text = str(error) if isinstance(error, PackError) else _of_the_machine(error)
        _tell(f"verlint: error: {text}" if text else _internal_error(error))
        return FAILED


def console() -> None:
    """The program `verlint`: `main` in a process of its own.

    Objects live as long as the process, so the search for garbage and the tidying up at the end are left out: together
    they would take a tenth of a run. What large projects must let go is let go part by part (`verlint.engine`)."""
    import gc

    from verlint.modules import find_quickly

    gc.disable()
    find_quickly()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed by whoever started this
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError as error:
        code = code or FAILED
        if reason := _of_the_machine(error):
            _tell(f"verlint: error: {reason}")
    os._exit(code)


def _tell(text: str) -> None:
    """Say something, if anybody can be told."""
    try:
        complain(text)
        sys.stderr.flush()
    except OSError:
        return


def drop_output() -> None:
    """After the reader of our output has gone: let nothing that is still buffered complain at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # it is no file
        return


def _run(arguments: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    wanted = next((word for word in arguments if not word.startswith("-")), "")
    if wanted and wanted not in VERBS:
        complain(_unknown_verb(wanted, arguments))
        return FAILED
    module = __import__(f"verlint.cli.{wanted}", fromlist=["run"]) if wanted else None
    if module is not None and hasattr(module, "plain_call") and arguments[0] == wanted:
        plain = module.plain_call(arguments[1:])
        if plain is not None:
            return _finished(module.run(plain))
    parser = _parser(wanted, module)
    behind: list[str] = []
    if getattr(module, "TAKES_ARGUMENTS", False) and "--" in arguments:
        at = arguments.index("--")
        arguments, behind = arguments[:at], arguments[at + 1 :]
    try:
        parsed, unknown = parser.parse_known_args(arguments)
        parsed.behind = behind
        sys.stdout.flush()
    except SystemExit as stop:
        from verlint.disk import give_up

        give_up()  # the width of a help is asked past `verlint.disk`
        return stop.code if isinstance(stop.code, int) else FAILED
    if unknown:
        print(_unknown_words(unknown, wanted, parser), file=sys.stderr)
        return FAILED
    if module is None:
        parser.print_help(sys.stderr)
        return FAILED
    return _finished(module.run(parsed))


def _finished(code: int) -> int:
    sys.stdout.flush()
    return code


def _parser(wanted: str, module: object) -> argparse.ArgumentParser:
    import argparse

    from verlint import __version__

    parser = argparse.ArgumentParser(
        prog="verlint", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-V", "--version", action="version", version=f"verlint {__version__}")
    subparsers = parser.add_subparsers(title="verbs", metavar="VERB", dest="verb")
    for name, line in VERBS.items():
        if name == wanted:
            module.add_parser(subparsers)  # type: ignore[attr-defined]
        else:
            subparsers.add_parser(name, help=line)
    return parser


def _unknown_verb(wanted: str, arguments: list[str]) -> str:
    from difflib import get_close_matches

    if os.path.exists(wanted):
        return f"verlint: error: {wanted!r} is not a verb (did you mean `verlint check {' '.join(arguments)}`?)"
    near = get_close_matches(wanted, VERBS, n=1)
    hint = f" (did you mean `{near[0]}`?)" if near else ""
    return f"verlint: error: {wanted!r} is not a verb{hint}; verbs: {', '.join(VERBS)}"


def _unknown_words(unknown: list[str], verb: str, parser: argparse.ArgumentParser) -> str:
    """What to say of words that a verb does not take."""
    from difflib import get_close_matches

    program = f"verlint {verb}".rstrip()
    options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
    if not options:
        return f"{program}: error: nothing is known to do with {' '.join(unknown)} (see {program} --help)"
    of_verbs = [action.choices for action in parser._actions if isinstance(action.choices, dict)]
    takes = of_verbs[0].get(verb, parser) if of_verbs else parser
    names = {name.lstrip("-"): name for name in takes._option_string_actions}
    near = get_close_matches(options[0].lstrip("-"), names, n=1, cutoff=0.75)
    hint = f" (did you mean {names[near[0]]}?)" if near else f" (see {program} --help)"
    if os.path.exists(options[0]):
        hint = f" (for the file of this name write ./{options[0]})"
    return f"{program}: error: there is no option {options[0]}{hint}"


def _of_the_machine(error: Exception) -> str:
    """What is wrong around verlint rather than in it: the working directory is gone, the output can take no more."""
    if not isinstance(error, OSError) or error.filename is not None or isinstance(error, BrokenPipeError):
        return ""
    import errno

    try:
        os.getcwd()
    except OSError:
        return "the folder this was started in does not exist any more: change into one that does"
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EBADF):
        return ""
    drop_output()
    return f"the output cannot be written: {error.strerror or error}"


def _internal_error(error: Exception) -> str:
    """One line: what failed and where in verlint, with secrets masked, and how to report it."""
    from verlint import __version__
    from verlint.secret import mask

    trace = error.__traceback__
    place = ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("verlint"):
            place = f" at {name}:{trace.tb_lineno}"
        trace = trace.tb_next
    what = mask(" ".join(f"{type(error).__name__}: {error}".split()))[:300]
    return (
        f"internal error: {what}{place} (verlint {__version__}); this is a bug of verlint: "
        "please report it with the output under VERLINT_TRACEBACK=1"
    )
