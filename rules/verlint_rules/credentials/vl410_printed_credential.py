"""A launcher prints a credential, or writes it into a file.

`echo "key: $WANDB_API_KEY"` puts the key into the log of the job, which is kept, shared and pasted into issues; `env`
and `printenv` do it with every key that is exported. A key in `.env` or in a generated script stays on the shared
disk when the job is over, readable for everybody in the group, and goes into the next commit or image. Python
programs do the same with `print(os.environ)` and `print(os.environ["HF_TOKEN"])`.

Not counted are values that go to a program that reads them (`echo "$KEY" | docker login --password-stdin`), what only
tells that a key is there (`${KEY:+set}`, `${#KEY}`), files of the user's home that are made for it (`~/.netrc`,
`~/.cache/huggingface/token`), and files that are closed to others (`umask 077`, `chmod 600`, what `mktemp` makes). A
dump of the environment counts where the launcher itself exports a credential or uses one, unless a filter takes the
names of credentials out, or lets none through. GitHub stars its secrets out in the logs of workflows, so these are left
alone.

Fix: print `${WANDB_API_KEY:+set}`; write the name into the script and let the environment give the value (quote the
word of the here-document: `<<'EOF'`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verlint.experiment.places import commands_in
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.languages.bash.command import Command, Redirect
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.secret import is_secret_name
from verlint.source import Span
from verlint_rules.credentials.exposure import exposed

_PRINTERS = frozenset(["echo", "printf", "print", "cat", "logger"])
_DUMPERS = frozenset(["env", "printenv", "export", "declare", "typeset", "set"])
_LOOK_AHEAD = 40
"""Commands behind one among which the rest of its pipeline is looked for."""
_PASS_ON = frozenset(["cat", "tee", "sort", "column", "nl", "ts", "uniq", "tac", "head", "tail"])
_HOME_FILES = pattern(r"(?:~|\$\{?HOME\}?|/root)/\.\S*|/dev/\S*|/run/secrets/\S*|/proc/\S*")
_MADE_CLOSED = pattern(r"\$\(mktemp\b")
_CLOSED = pattern(r"\bumask[ \t]+0?[0-7]?77\b|\bchmod[ \t]+(?:-\S+[ \t]+)*(?:0?[46]00|go[-=]|u=rw,go=)")
_NAME = pattern(r"\$\{?([A-Za-z_]\w*)")
_SAMPLES = ("WANDB_API_KEY", "HF_TOKEN", "OPENAI_API_KEY")
SHOWN = 10


@dataclass(frozen=True)
class Shown:
    """A credential that a command shows: its name, where, and what the command does with it. `file` is the file it goes
    into, "" for the log."""

    name: str
    span: Span
    by: str
    file: str = ""
    dump: bool = False


@rule(
    "VL410",
    "printed-credential",
    on=Loaded,
    severity=ERROR,
    since="0.1",
    words=(
        "api_key",
        "apikey",
        "access_key",
        "secret",
        "passw",
        "wandb",
        "openai",
        "hf_token",
        "hub_token",
        "api_token",
        "auth_token",
        "access_token",
        "github_token",
        "judge",
        "os.environ",
    ),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind is Kind.PYTHON:
        yield from _in_program(file, ctx)
    if file.kind not in (Kind.LAUNCHER, Kind.SPEC, Kind.JOB) or _is_masked(file):
        return
    commands = commands_in(ctx.project, file)
    found: dict[tuple[str, str, bool], dict[int, Shown]] = {}
    for at, command in enumerate(commands):
        if command.name not in _PRINTERS and command.name not in _DUMPERS:
            continue
        for each in _shown(command, commands[at + 1 : at + 1 + _LOOK_AHEAD], file.source.text):
            found.setdefault((each.name, each.file, each.dump), {}).setdefault(each.span.in_file().start, each)
    for places in found.values():
        yield _finding(ctx, [places[place] for place in sorted(places)])


def _is_masked(file: Loaded) -> bool:
    """Whether whoever runs the file stars secrets out in its logs."""
    if file.kind is not Kind.JOB:
        return False
    from verlint.files.job_formats import ACTION, WORKFLOW, format_of

    return format_of(file.source.path, file.source.text) in (ACTION, WORKFLOW)


def _finding(ctx: Context, places: Sequence[Shown]) -> Finding:
    first = places[0]
    if first.dump:
        what = f"prints {first.name} with the whole environment" + (f" into {first.file}" if first.file else "")
        help_ = "name the variables that are of interest, or filter: env | grep -E '^(NCCL|CUDA)'"
    elif first.file:
        what = f"writes the value of {first.name} into {first.file}"
        help_ = "write the name and let the environment give the value, or close the file first (umask 077)"
    else:
        what, help_ = f"prints the value of {first.name} into the log", f"print ${{{first.name}:+set}}"
    severity = WARNING if first.dump or first.file else None
    finding = ctx.fail(first.span, f"`{first.by}` {what}", help=help_, severity=severity)
    for other in places[1 : SHOWN + 1]:
        finding = finding.with_related(other.span, "here too")
    return finding


def _in_program(file: Loaded, ctx: Context) -> Iterator[Finding]:
    from verlint_rules.credentials.python_prints import printed_credentials

    for name, by, span in printed_credentials(file.source):
        what = f"prints the value of {name}" if name else "prints the whole environment, credentials included,"
        help_ = (
            f'print whether it is there: bool(os.environ.get("{name}"))' if name else "print the names of interest only"
        )
        yield ctx.fail(span, f"`{by}` {what} into the log", help=help_, severity=None if name else WARNING)


def _shown(command: Command, following: Sequence[Command], text: str) -> Iterator[Shown]:
    if command.around.substitution or not command.argv or command.function:
        return
    readers = _readers(command, following)
    last = readers[-1] if readers else command
    if all(reader.name in _PASS_ON for reader in readers):
        file = _file_of(last)
        if file and (_HOME_FILES.fullmatch(file) or _CLOSED.search(text) or _MADE_CLOSED.match(file)):
            return
        for name, span in _printed(command):
            yield Shown(name, span, command.name, file)
    dumped = _dumps(command)
    if dumped is not None and all(reader.name in (*_PASS_ON, "grep", "egrep", "awk", "sed") for reader in readers):
        file = _file_of(last)
        known = [dumped] if dumped else _exported(command, text)
        if known and not _filtered(readers) and not (file and (_CLOSED.search(text) or _MADE_CLOSED.match(file))):
            yield Shown(known[0], command.span, command.name, file, dump=not dumped)


def _readers(command: Command, following: Sequence[Command]) -> list[Command]:
    """The commands behind one in its pipeline."""
    at, length = command.pipe
    found: list[Command] = []
    for other in following:
        if len(found) == length - at - 1:
            break
        if other.pipe == (at + 1 + len(found), length):
            found.append(other)
    return found


def _file_of(command: Command) -> str:
    """The file that the output goes into, "" for the log."""
    if command.name == "tee":
        files = [word.shown for word in command.words if not (word.known or "").startswith("-")]
        return files[0] if files else ""
    for each in command.redirects:
        if each.operator in (">", ">>", ">|", "&>", "&>>") and each.descriptor in ("", "1"):
            return each.target.shown
    return ""


def _printed(command: Command) -> Iterator[tuple[str, Span]]:
    """The credentials that a command prints."""
    if command.name not in _PRINTERS:
        return
    for word in command.words if command.name != "cat" else ():
        for each in exposed(word):
            yield each.name, word.span or command.span
    for redirect in command.redirects:
        if redirect.operator in ("<<", "<<-", "<<<") and command.name == "cat":
            for each in exposed(redirect.target):
                yield each.name, _place(redirect, each.name) or command.span


def _place(redirect: Redirect, name: str) -> Span | None:
    """Where a variable stands in a here-document."""
    span = redirect.span.in_file()
    found = re.compile(rf"\$\{{?{name}\b\}}?").search(span.source.text, span.start)
    return None if found is None else Span(span.source, *found.span())


def _dumps(command: Command) -> str | None:
    """What a command shows of the environment: a name, "" for all of it, None when it shows nothing."""
    words = [word.known or "" for word in command.words]
    match command.name:
        case "env" if all(word.startswith("-") and word not in ("-i", "-", "-u") for word in words):
            return ""
        case "printenv":
            names = [word for word in words if not word.startswith("-")]
            return next((name for name in names if is_secret_name(name)), None) if names else ""
        case "export" | "declare" | "typeset" if "-p" in words or "-xp" in words or "-px" in words:
            names = [word for word in words if not word.startswith("-")]
            return next((name for name in names if is_secret_name(name)), None) if names else ""
        case "set" if not words and command.builtin:
            return ""
    return None


def _exported(command: Command, text: str) -> list[str]:
    """The credentials that are in the environment as far as the launcher tells: those it exports, those it uses."""
    own = [name for name in command.around.environment if is_secret_name(name)]
    return own or sorted({name for name in _NAME.findall(text) if is_secret_name(name) and name.isupper()})


def _filtered(readers: Sequence[Command]) -> bool:
    """Whether a filter behind it lets no credential through."""
    for reader in readers:
        if reader.name in ("awk", "sed"):
            return True
        if reader.name not in ("grep", "egrep"):
            continue
        options = [word.known or "" for word in reader.words if (word.known or "").startswith("-")]
        patterns = [word.known for word in reader.words if word.known and not word.known.startswith("-")]
        inverted = (
            any("v" in option for option in options if not option.startswith("--")) or "--invert-match" in options
        )
        hits = [_matches(expression, options) for expression in patterns]
        if not hits or (any(hits) if inverted else not any(hits)):
            return True
    return False


def _matches(expression: str, options: Sequence[str]) -> bool:
    """Whether an expression of grep finds the names of usual credentials."""
    flags = re.IGNORECASE if any("i" in option for option in options if not option.startswith("--")) else 0
    try:
        found = re.compile(expression.replace("\\|", "|"), flags)
    except re.error:
        return False
    return any(found.search(f"{name}=x") for name in _SAMPLES)
