"""A launcher needs a credential and starts its work without looking whether it is there.

An unset variable is an empty word. `wandb login $WANDB_API_KEY` then asks for a key on a node where nobody answers, or
goes on without one until the trainer opens its log, after the queue and the model load. An empty `--api_key` is
refused by the judge after the first batch was generated. A test in the first lines costs nothing.

Found are: a variable of the environment that a program gets as an argument or under another name; the key of an API
judge that a Coach launch needs; and a launch that logs to Weights & Biases without asking for the key when other
launchers of the same folder ask. A README that tells to set the variable does not look whether somebody did. A model
that the Hub gives to approved accounts only needs verification when nothing in the project speaks of a token or a
login. Silent when the launcher (or its caller) tests the variable in any form (`:?`, `[ -z … ]`, a default), reads a
file that is not here (`source .env`), or runs under `set -u`.

Fix: ask for it at the top: `: "${WANDB_API_KEY:?set WANDB_API_KEY}"`; while `set -x` is on with a test that does not
print it: `[ -n "${WANDB_API_KEY:+set}" ] || { echo "set WANDB_API_KEY" >&2; exit 1; }`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from verlint.experiment.all_files import of_all_files
from verlint.experiment.launch import Launch
from verlint.experiment.places import assignments_by_name, assignments_in, variants_in
from verlint.experiment.project import Project
from verlint.experiment.python_programs import python_program
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Edit, Finding, Safety
from verlint.languages.bash.command import Command
from verlint.languages.bash.wrappers import program_name, unwrap
from verlint.lazy import pattern
from verlint.record import dataclass
from verlint.rule import WARNING, Context, rule
from verlint.secret import is_secret_name
from verlint.source import Source, Span
from verlint.value import Hole, Text
from verlint_rules.credentials.exposure import ask_for
from verlint_rules.credentials.logger import KEY, LOGGER, is_login, logs_to_wandb, switched_off

_MODEL = "actor_rollout_ref.model.path"
_SHELL_FILES = pattern(r"(?:activate|conda\.sh|rc|profile|setvars\.sh|set_env\.sh|modules\.sh|/init/\w+)$")
_NAME = pattern(r"\$\{?([A-Za-z_]\w*)")
_GATED = ("meta-llama/", "google/gemma-2", "google/gemma-3")
"""Models behind an agreement. Source: their pages on the Hugging Face Hub."""
_HUB_LOGIN = ("hf_token", "hub_token", "hf auth login", "hf login", "huggingface-cli login", "huggingface_hub.login")
_JUDGE_MODEL = "actor_rollout_ref.model.exp_model_path"
_JUDGE_KEYS = ("OPENAI_API_KEY", "GPT_RM_API_KEY")
"""The model of the coach; one whose name has `gpt` in it is called over the network. Source: llm-as-a-coach, reward
client."""


@dataclass(frozen=True)
class Need:
    """A credential that something in a launcher needs: where, and what happens without it.

    `written` is its name in the launcher, where a caller has given that the value of another variable.
    """

    name: str
    span: Span
    what: str
    command: Command
    fixable: bool = True
    written: str = ""


@rule(
    "VL406",
    "unchecked-credential",
    on=Loaded,
    severity=WARNING,
    since="0.1",
    fixable="unsafe",
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
        "gpt",
        "meta-llama",
        "gemma",
    ),
)
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if file.kind not in (Kind.LAUNCHER, Kind.JOB):
        return
    by_name: dict[str, list[Need]] = {}
    for need in _needs(file, ctx.project):
        if not _looked_at(need, ctx.project):
            by_name.setdefault(need.written or need.name, []).append(need)
    for name, needs in by_name.items():
        yield _finding(ctx, name, needs)
    yield from _gated(file, ctx)


def _finding(ctx: Context, name: str, needs: list[Need]) -> Finding:
    first = min(needs, key=lambda need: need.span.order())
    demand = ask_for(name, traced=first.command.around.xtrace)
    finding = ctx.fail(
        first.span, f"nothing looks whether {name} is set: {first.what}", help=f"ask for it first: {demand}"
    )
    seen = {first.span.order()}
    for other in needs:
        if other.span.order() not in seen and len(seen) <= 10:
            seen.add(other.span.order())
            finding = finding.with_related(other.span, "and here")
    edit = _before(first.command.span, demand) if first.fixable else None
    return finding if edit is None else finding.with_fix(f"ask for {name}", edit, safety=Safety.UNSAFE)


def _gated(file: Loaded, ctx: Context) -> Iterator[Finding]:
    """Models that the Hub gives to approved accounts only, in a project that nowhere speaks of a token or login."""
    seen: set[int] = set()
    for variant in variants_in(ctx.project, file.source):
        launch = ctx.project.launch(variant.command)
        value = launch[_MODEL] if launch is not None and _MODEL in launch else None
        if value is None or value.span is None or not str(value).startswith(_GATED):
            continue
        at = value.span.in_file().start
        if at in seen or ctx.project.speaks_of(_HUB_LOGIN):
            continue
        seen.add(at)
        yield ctx.unsure(
            value,
            f"{value} is given to approved accounts only, and nothing here speaks of HF_TOKEN or a login",
            help=f"ask for it first: {ask_for('HF_TOKEN', traced=variant.command.around.xtrace)}",
            verify=f"hf auth whoami && hf download {value} config.json",
        )


def _before(statement: Span, line: str) -> Edit | None:
    """A line above a statement, where that begins its line."""
    from verlint_rules.credentials.lines import own_lines

    indent = own_lines(statement, to_the_end=False)
    place = Span(statement.source, statement.start, statement.start)
    return None if indent is None else Edit(place, f"{line}\n{indent}")


# ---- what is needed


def _needs(file: Loaded, project: Project) -> Iterator[Need]:
    variants = variants_in(project, file.source)
    if not any(_works(variant.command, project) for variant in variants):
        return
    if any(_reads_a_file(variant.command, project) for variant in variants):
        return  # it may set or test anything
    needless = _needless(file, project)
    for variant in variants:
        if variant.command.span.in_file().start not in needless:
            yield from _arguments(variant.command, project)
        launch = project.launch(variant.command)
        if launch is not None:
            yield from _judge(launch)
    yield from _renamed(file, project)
    yield from _unlike_its_siblings(file, project)


def _needless(file: Loaded, project: Project) -> set[int]:
    """The logins that go away anyway."""
    if "login" not in file.source.text:
        return set()
    from verlint_rules.credentials.logins import logins_of

    scripts = (script for script in project.scripts if script.source is file.source)
    return {at for script in scripts for at, login in logins_of(script, project).items() if login.needless}


def _reads_a_file(command: Command, project: Project) -> bool:
    """Whether a command sources a file that is not here, such as `.env`; set-up files of shells and environments set no
    credentials."""
    if not command.builtin or command.name not in ("source", ".") or len(command.argv) < 2:
        return False
    path = command.argv[1].shown
    return _SHELL_FILES.search(path) is None and project.tree.source(path.removeprefix("./")) is None


def _works(command: Command, project: Project) -> bool:
    if command.builtin or command.function:
        return False
    return python_program(command.argv) is not None or project.launch(command) is not None


def _arguments(command: Command, project: Project) -> Iterator[Need]:
    """Words of a program that are empty when a variable of the environment is unset."""
    if command.builtin or command.function or command.around.nounset:
        return
    name = program_name(unwrap(command.argv).argv[0]) if unwrap(command.argv).argv else ""
    for word in command.argv[1:]:
        for hole in word.holes:
            if (variable := _from_environment(hole)) and word.span is not None:
                what = "unset, `wandb login` asks for it where nobody answers"
                if not is_login(command):
                    what = f"unset, `{name or 'the program'}` gets an empty word"
                yield Need(variable, word.span, what, command, written=_written(word.span, variable))


def _written(span: Span, variable: str) -> str:
    """What the launcher itself calls a credential that a caller has filled from `variable`, "" when it is the same."""
    span = span.in_file()
    if variable in span.source.text:
        return ""
    found = _NAME.search(span.text)
    return found[1] if found is not None and is_secret_name(found[1]) else ""


def _renamed(file: Loaded, project: Project) -> Iterator[Need]:
    """Credentials that get the value of another variable: `export OPENAI_API_KEY=$JUDGE_KEY`."""
    for each in assignments_in(project, file.source):
        if each.value is None or not is_secret_name(each.name) or not each.exported or each.around.nounset:
            continue
        for hole in each.value.holes:
            variable = _from_environment(hole)
            if variable and variable != each.name:
                command = Command((), each.span, each.around)
                yield Need(variable, each.span, f"unset, {each.name} becomes empty", command, fixable=False)


def _from_environment(hole: Hole) -> str:
    """The credential that a hole is, when only the environment can give it."""
    if isinstance(hole.key, tuple) and hole.key[0] == "env" and len(hole.key) == 2 and not hole.name.startswith("${#"):
        name = str(hole.key[1])
        return name if is_secret_name(name) and "_" in name else ""
    return ""


def _judge(launch: Launch) -> Iterator[Need]:
    """A coach that is an API model."""
    if launch.family != "coach" or _JUDGE_MODEL not in launch:
        return
    value = launch[_JUDGE_MODEL]
    if "gpt" not in _shown(value.text, str(value)).lower() or "/" in _shown(value.text, str(value)):
        return
    at = value.span or launch.head
    what = f"the coach is {value}, and the run stops at its first call, after all workers are up"
    yield Need(_JUDGE_KEYS[0], at, what, launch.command, fixable=False)


def _shown(text: Text | None, data: str) -> str:
    return text.shown if text is not None else data


def _unlike_its_siblings(file: Loaded, project: Project) -> Iterator[Need]:
    """A launch that logs to wandb in a launcher that does not ask for the key, where the other launchers beside it
    do."""
    if KEY in file.source.text or "wandb login" in file.source.text:
        return
    other = _asking(project, posixpath.dirname(file.source.path))  # which is not this one, as that does not name it
    if not other:
        return
    for variant in variants_in(project, file.source):
        launch = project.launch(variant.command)
        if (
            launch is None
            or logs_to_wandb(launch) is not True
            or not launch[LOGGER].given
            or switched_off(variant.command)
        ):
            continue
        if KEY in variant.command.around.environment or variant.command.around.elsewhere:
            continue
        name = posixpath.basename(other)
        yield Need(
            KEY, launch[LOGGER].span or launch.head, f"the run logs to wandb, and `{name}` asks for it", variant.command
        )


@of_all_files
def _asking(project: Project, folder: str) -> str:
    """The first launcher in a folder that asks for the key of wandb."""
    paths = (
        file.source.path
        for file in project.files
        if file.kind is Kind.LAUNCHER and posixpath.dirname(file.source.path) == folder and _asks(file.source.text, KEY)
    )
    return next(paths, "")


# ---- what is looked at


def _looked_at(need: Need, project: Project) -> bool:
    """Whether the launcher or one that calls it tests the variable, in any form."""
    names = _JUDGE_KEYS if need.name in _JUDGE_KEYS else (need.name,)
    if need.written:
        names = (*names, need.written)
    sources: list[Source] = [need.command.span.in_file().source]
    callers = [call.span.in_file().source for call in need.command.around.stack]
    sources += [each for each in callers if project.kinds.get(id(each)) is not Kind.DOCUMENT]
    if len(sources) <= len(callers):  # a document says what to do: that it was done is not looked at by anything
        names = (need.written,) if need.written else names
    elif any(name in need.command.around.environment and name != need.name for name in names):
        return True
    return any(_asks(source.text, name) or _sets(project, source, name) for source in sources for name in names)


def _sets(project: Project, source: Source, name: str) -> bool:
    """Whether a file gives the variable a value of its own."""
    return any(
        each.value is None or not any(_from_environment(hole) == name for hole in each.value.holes)
        for each in assignments_by_name(project, source).get(name, ())
    )


@lru_cache(maxsize=4096)
def _asks(text: str, name: str) -> bool:
    found = re.search(
        rf"\$\{{{name}:?[-?+=]|(?:-[znv]|\[\[?|test)[ \t]+\"?\$?\{{?{name}\b|-v[ \t]+\"?{name}\b"
        rf"|\$\{{?{name}\}}?\"?[ \t]*(?:==?|!=)|\bprintenv[ \t]+{name}\b|\$\{{#{name}\}}"
        rf"|\bfor[ \t]+\w+[ \t]+in\b[^\n;]*\b{name}\b",
        text,
    )
    return found is not None or ("${!" in text and re.search(rf"(?<![\w${{]){name}(?![\w=])", text) is not None)
