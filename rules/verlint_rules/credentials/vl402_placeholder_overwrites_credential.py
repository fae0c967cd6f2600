"""A stand-in is assigned to a credential, so the caller's own key is lost.

`export WANDB_API_KEY='YOUR_WANDB_API_KEY'` looks like a form to fill in, but it runs: a caller who has exported the
real key gets the stand-in instead, and the login fails after the queue and the model load, or an interactive prompt
waits on a node that nobody watches. An empty value does the same. With Weights & Biases switched off in the same
launcher the lost key does no harm yet, which is a warning.

Not counted are documents, assignments that keep what is set (`${WANDB_API_KEY:-…}`, or only while it is unset), a
start value that an option replaces or a file that is sourced below and not here (`. ./.env`) may replace, and dummy
keys for servers that ask for none (`OPENAI_API_KEY=EMPTY`).

Fix: delete the assignment and ask for the variable: `: "${WANDB_API_KEY:?set WANDB_API_KEY}"`. While `set -x` is on
use a test that does not print it: `[ -n "${WANDB_API_KEY:+set}" ] || { echo "set WANDB_API_KEY" >&2; exit 1; }`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from verlint.experiment.places import assignments_by_name, assignments_in, replaceable, scripts_in, variants_in
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Assignment, Command
from verlint.languages.bash.variables import SETS_UP_TOOLS
from verlint.languages.bash.wrappers import unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import ERROR, WARNING, Context, rule
from verlint.secret import is_placeholder, is_secret_name
from verlint.source import Span
from verlint.value import Hole, Text
from verlint_rules.credentials.exposure import ask_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.experiment.spec import Spec

_NO_KEY_NEEDED = frozenset(
    [
        "empty",
        "none",
        "null",
        "na",
        "n/a",
        "dummy",
        "local",
        "fake",
        "no-key",
        "nokey",
        "not-needed",
        "notneeded",
        "token-abc123",
        "sk-no-key-required",
        "unused",
        "ollama",
        "vllm",
        "sglang",
    ]
)
_SWITCHES = frozenset(["0", "1", "true", "false", "yes", "no", "on", "off"])
"""Values of a switch (`ENABLE_CONTINUOUS_TOKEN=1`), whose name only sounds like a credential."""
_JSON_ENTRY = pattern(r"[\"']([A-Za-z_]\w*)[\"'][ \t]*:[ \t]*[\"']([^\"']*)[\"']")
_IN_PROGRAM = pattern(
    r"(?m)^(?!\s*#).*?\bos\.environ\[[\"'](?P<name>\w+)[\"']\][ \t]*=[ \t]*"
    r"(?P<quote>[\"'])(?P<value>[^\"'\n]+)(?P=quote)[ \t]*(?:#|$)"
)
_ENTRY = pattern(r"( +)[\"']?([A-Za-z_]\w*)[\"']?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|[\w.<./-][^#\n]*)")
"""An entry of a mapping in one line, which holds nothing else."""
_OFF = {"WANDB_MODE": ("disabled", "offline", "dryrun"), "WANDB_DISABLED": ("true", "1", "True", "TRUE")}


@dataclass(frozen=True)
class Overwritten:
    """A credential that gets a stand-in: `whole` is the statement when it does nothing else, `traced` that `set -x`
    is on, `in_spec` and `elsewhere` that it is written in a spec, or in another file than a launcher."""

    name: str
    value: str
    span: Span
    whole: Span | None = None
    traced: bool = False
    in_spec: bool = False
    elsewhere: bool = False


@rule("VL402", "placeholder-overwrites-credential", on=Loaded, severity=ERROR, since="0.1", fixable="unsafe")
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind in (Kind.LAUNCHER, Kind.JOB):
        found, off = list(_in_launcher(file, ctx)), _switched_off(file, ctx)
        by_name: dict[str, list[Overwritten]] = {}
        for each in found:
            by_name.setdefault(each.name, []).append(each)
        for places in by_name.values():
            yield from _finding(ctx, places, off)
        yield from _in_json(file, ctx)
    elif file.kind in (Kind.YAML, Kind.PYTHON):
        for one in _in_yaml(file) if file.kind is Kind.YAML else _in_program(file):
            yield from _finding(ctx, [one], "")
    elif file.kind is Kind.SPEC:
        for spec in (each.spec for each in ctx.project.specs if each.source is file.source):
            yield from _in_spec(spec, ctx) if spec is not None else ()


def _finding(ctx: Context, places: Sequence[Overwritten], off: str) -> Iterator[Finding]:
    first = places[0]
    harmless = off if first.name.startswith("WANDB") else ""
    if harmless and not first.value:
        return
    what = "a placeholder" if first.value else "an empty value"
    message = f"{what} overwrites the {first.name} you export"
    if harmless:
        message += f"; harmless only while {harmless} is set here"
    finding = ctx.fail(
        first.span,
        message,
        value=f"{first.name} = {first.value or '(empty)'}",
        hops=(),
        help=_help(first, harmless),
        severity=WARNING if harmless else None,
    )
    for other in places[1:]:
        finding = finding.with_related(other.span, "and here")
    if first.whole is not None and len(places) == 1 and not harmless:
        edit = Edit(first.whole.in_file(), ask_for(first.name, traced=first.traced))
        finding = finding.with_fix(f"ask for {first.name} instead", edit, safety=Safety.UNSAFE)
    elif len(places) == 1 and not harmless and (gone := _without(first)) is not None:
        finding = finding.with_fix(f"delete {first.name}", gone, safety=Safety.UNSAFE)
    yield finding


def _without(one: Overwritten) -> Edit | None:
    """The edit that deletes a line of a mapping in YAML, or a statement of a program."""
    span = one.span.in_file()
    text = span.source.text
    if span.source.path.endswith(".py"):
        from verlint.languages.python.removal import without

        start = text.rfind("\n", 0, span.start) + 1
        start += len(text[start : span.start]) - len(text[start : span.start].lstrip())
        found = without(Span(span.source, start, span.end + 1))
        return None if found is None else Edit(*found)
    if not (one.in_spec or one.elsewhere) or not span.source.path.endswith((".yaml", ".yml")):
        return None
    start, end = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end) + 1
    entry = _ENTRY.fullmatch(text[start:end].rstrip("\r\n")) if end else None
    if entry is None or entry[2] != one.name:
        return None
    beside = (text[text.rfind("\n", 0, start - 1) + 1 : start], text[end : text.find("\n", end)])
    siblings = [each for each in beside if (found_ := _ENTRY.fullmatch(each.rstrip("\r\n"))) and found_[1] == entry[1]]
    return Edit(Span(span.source, start, end), "") if siblings else None


def _in_json(file: Loaded, ctx: Context) -> Iterator[Finding]:
    """Stand-ins in the runtime environment of a job: `--runtime-env-json '{"env_vars": {"NAME": "…"}}'`."""
    seen: set[tuple[str, int, int]] = set()
    for variant in variants_in(ctx.project, file.source):
        for word in variant.command.argv:
            text = word.known or ""
            if "env_vars" not in text or word.span is None or word.span.order() in seen:
                continue
            filled = variant.command.name == "printf"  # `%s` stands for what follows
            for match in _JSON_ENTRY.finditer(text):
                if not (filled and "%" in match[2]) and _stand_in(match[1], match[2]):
                    seen.add(word.span.order())
                    yield from _finding(ctx, [Overwritten(match[1], match[2], word.span, elsewhere=True)], "")


def _in_yaml(file: Loaded) -> Iterator[Overwritten]:
    """Stand-ins in the `env_vars` of a runtime environment of Ray."""
    if "env_vars" not in file.source.text:
        return
    from verlint.languages.yaml import Mapping, Scalar, parse_yaml, walk

    for document in parse_yaml(file.source).documents:
        for node in walk(document):
            names = node.get("env_vars") if isinstance(node, Mapping) else None
            for entry in names.entries if isinstance(names, Mapping) else ():
                value = entry.value
                if isinstance(value, Scalar) and value.text and _stand_in(entry.key.text, value.text):
                    yield Overwritten(entry.key.text, value.text, value.span, elsewhere=True)


def _in_program(file: Loaded) -> Iterator[Overwritten]:
    """Stand-ins that a Python program sets: `os.environ["NAME"] = "…"`."""
    for match in _IN_PROGRAM.finditer(file.source.text):
        if _stand_in(match["name"], match["value"]):
            yield Overwritten(match["name"], match["value"], file.source.span(*match.span("value")), elsewhere=True)


def _help(first: Overwritten, harmless: str) -> str:
    if first.elsewhere:
        return "delete it, so that the value of the environment counts"
    if first.in_spec:
        return "delete it: the name under `credentials` says that it is needed at launch"
    return "delete the assignment" + (
        "" if harmless else f"; to ask for it: {ask_for(first.name, traced=first.traced)}"
    )


# ---- launchers


def _in_launcher(file: Loaded, ctx: Context) -> Iterator[Overwritten]:
    by_name = assignments_by_name(ctx.project, file.source)
    statements = {
        variant.command.argv[1].span.in_file(): variant.command.span
        for variant in variants_in(ctx.project, file.source)
        if variant.command.name == "export"
        and len(variant.command.argv) == 2
        and variant.command.argv[1].span is not None
    }
    seen: set[tuple[str, int, int]] = set()
    found: list[Overwritten] = []
    for each in assignments_in(ctx.project, file.source):
        common = "_" in each.name or each.exported  # a plain TOKEN is nobody's environment variable
        if common and _overwrites(each.name, each.value) and not replaceable(each, by_name):
            if _may_be_set_below(each, file, ctx):
                continue
            whole = _statement(each, statements.get(each.span.in_file()))
            found.append(Overwritten(each.name, _known(each.value), each.span, whole, each.around.xtrace))
    for variant in variants_in(ctx.project, file.source):
        found += _given_by(variant.command)
    for one in sorted(found, key=lambda one: one.span.order()):
        if one.span.order() not in seen:
            seen.add(one.span.order())
            yield one


def _may_be_set_below(assignment: Assignment, file: Loaded, ctx: Context) -> bool:
    """Whether a file that nobody has here is sourced after an assignment: mostly it holds the credentials."""
    place = assignment.span.in_file()
    paths = [path for script in scripts_in(ctx.project, file.source) for path in script.resolution.paths]
    missing = (note for path in paths for note in path.notes if note.kind == "missing-source")
    below = (note for note in missing if note.span.in_file().source is place.source)
    return any(note.span.in_file().start > place.start and not SETS_UP_TOOLS.search(note.text) for note in below)


def _statement(assignment: Assignment, export: Span | None) -> Span | None:
    """The statement that consists of the assignment alone: a line of its own, or an `export` of one variable."""
    if export is not None:
        return export
    span = assignment.span.in_file()
    text = span.source.text
    before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    end = text.find("\n", span.end)
    return None if before.strip() or text[span.end : end if end >= 0 else len(text)].strip() else span


def _given_by(command: Command) -> Iterator[Overwritten]:
    """Stand-ins in the environment of one command: `NAME=… command`, `env NAME=…`, `docker run -e NAME=…`."""
    for name, value in {**command.prefix, **unwrap(command.argv).assignments}.items():
        if _overwrites(name, value) and value.span is not None:
            yield Overwritten(name, _known(value), value.span)
    words = command.argv
    for before, word in pairwise(words):
        if before.known not in ("-e", "--env"):
            continue
        name, sign, value_text = (word.known or "").partition("=")
        if sign and word.span is not None and _stand_in(name, value_text):
            yield Overwritten(name, value_text, word.span)


def _overwrites(name: str, value: Text | None) -> bool:
    if value is None or value.known is None or any(isinstance(part, Hole) or part.overridable for part in value.parts):
        return False
    return _stand_in(name, value.known)


def _stand_in(name: str, value: str) -> bool:
    if not name.isidentifier() or not is_secret_name(name) or not is_placeholder(value):
        return False
    if value.strip().lower() in _SWITCHES:
        return False
    if value and value.strip().lower() in _NO_KEY_NEEDED:
        return name.startswith(("WANDB", "HF_", "HUGGING"))
    return True


def _known(value: Text | None) -> str:
    return (value.known or "") if value is not None else ""


def _switched_off(file: Loaded, ctx: Context) -> str:
    """What switches Weights & Biases off in a launcher ("WANDB_MODE=disabled"), "" when nothing does."""
    for each in assignments_in(ctx.project, file.source):
        if _known(each.value) in _OFF.get(each.name, ()):
            return f"{each.name}={_known(each.value)}"
    return ""


# ---- specs


def _in_spec(spec: Spec, ctx: Context) -> Iterator[Finding]:
    for stage in spec.stages.values():
        values = {name: str(value.data) for name, value in stage.env.items() if value.decided and value.given}
        off = next((f"{name}={values[name]}" for name, offs in _OFF.items() if values.get(name) in offs), "")
        for name, value in stage.env.items():
            written = values.get(name)
            if written is None or value.data is None or value.span is None or not _stand_in(name, written):
                continue
            yield from _finding(ctx, [Overwritten(name, written, value.span, in_spec=True)], off)
