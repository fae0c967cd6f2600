"""Simple commands: recorded, and followed into what they start."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from verlint.languages.bash.command import Command
from verlint.languages.bash.command import Redirect as Redirection
from verlint.languages.bash.filters import LINE_TOOLS, MAKERS, Result, run_filter
from verlint.languages.bash.moving import MOVERS, move_files
from verlint.languages.bash.pieces import EMPTY, Parts, flat, is_empty, overridable, overriders, plain
from verlint.languages.bash.printing import Argument
from verlint.languages.bash.run import DiscardLine, Exit, ReadOnly
from verlint.languages.bash.scripts import Scripts
from verlint.languages.bash.storage import Array, Scope, Variable
from verlint.languages.bash.syntax import Assign, Node, Simple
from verlint.languages.bash.wrappers import CARRIERS, Unwrapped, program_name, unwrap_one
from verlint.source import Source
from verlint.value import Hole, Literal, Text, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from verlint.languages.bash.carriers import Carried
    from verlint.languages.bash.handing_on import Export
    from verlint.languages.slurm import BatchCall

_RECORDED = frozenset(
    ["echo", "printf", "export", "declare", "typeset", "readonly", "cd", "pushd", "source", ".", "eval", "exec", "set",
     "exit", "trap", "ulimit", "wait", "kill", "unset"]
)  # fmt: skip
"""Builtins whose calls are put on record."""
_SHELLS = frozenset(["bash", "sh", "dash", "zsh"])
_LAUNCHING = frozenset(["torchrun", "accelerate", "deepspeed", "ray"])
NAMES = ("GNUmakefile", "makefile", "Makefile")
"""The names that make looks for, in this order."""


class SimpleCommands(Scripts):
    """Runs simple commands."""

    __slots__ = ()

    def simple(self, node: Simple) -> None:
        """Run a simple command."""
        if not node.words and not node.redirects:
            self._assignments_only(node, self.substitutions)
            return
        before = self.substitutions
        words: list[Argument] = []
        for word in self.run.prepared.command(node, self.source).words:
            if isinstance(word, Text):
                words.append(word)
            else:
                words.extend(self.declared(word) if isinstance(word, Assign) else self.expanded(word))
        self.here = node.start
        output, stdin, errors = self.output, self.input, self.errors
        descriptors, files_of = self.descriptors, self.files_of
        redirections = self._redirections(words, node) if node.redirects else []
        try:
            if redirections is None:
                self._assign_without_command(node)
                self.status = 1
            elif not words:
                self._assignments_only(node, before)
            else:
                self._run_words(words, node, redirections)
            if redirections and self.output is not output and self.output:
                self._remember_output(redirections)
        finally:
            self.output, self.errors = output, errors
            if len(words) != 1 or not node.redirects or self.texts(words)[0].known != "exec":
                self.input, self.descriptors, self.files_of = stdin, descriptors, files_of

    def _redirections(self, words: list[Argument], node: Simple) -> list[Redirection] | None:
        """The redirections of a command. Those of a program are carried out by its process, which an error ends."""
        name = self.texts(words[:1])[0].known if words else None
        try:
            return self._redirect(node.redirects)
        except (Exit, DiscardLine):
            if name is None or name in self.functions or self.builtin(name) is not None:
                raise
            return None

    def _assign_without_command(self, node: Simple) -> None:
        """A redirection failed: assignments are carried out all the same, those before a command for nothing."""
        saved: dict[str, Variable | None] = {}
        for each in node.assigns:
            found = self.lookup(each.name)
            saved.setdefault(each.name, None if found is None else found.copy())
            self.assign(each)
        if node.words:
            self._restore(saved)

    def _assignments_only(self, node: Simple, before: int) -> None:
        """No command is left: the status is that of the last command substituted, `before` of which ran earlier."""
        for each in node.assigns:
            self.assign(each)
            self.record_assignment(each.name, each, node, exported=False)
        if self.substitutions == before:
            self.status = 0

    def _run_words(self, words: list[Argument], node: Simple, redirections: list[Redirection]) -> None:
        first = words[0]
        assert isinstance(first, Text)
        if self.errors is not None and "x" in self.options:
            self.errors.append((self.hole("set -x", "trace of the commands", node),))
        name = first.known or ""
        if node.assigns and name in self.functions:
            self._function_with_prefix(name, words, node, redirections)
            return
        prefix: dict[str, Text] = {}
        saved: dict[str, Variable | None] = {}
        try:
            for each in node.assigns:
                found = self.lookup(each.name)
                saved.setdefault(each.name, None if found is None else found.copy())
                self._assign_prefix(each, prefix)
            self._dispatch(name, words, node, redirections, prefix)
        finally:
            if saved:
                if name in ("export", "readonly", "declare", "typeset"):
                    for text in self.texts(words[1:]):
                        saved.pop(text.prefix.partition("=")[0].rstrip("+"), None)
                self._restore(saved)

    def _assign_prefix(self, assign: Assign, prefix: dict[str, Text]) -> None:
        try:
            self.assign(assign, exported=True)
        except ReadOnly:
            return  # bash says so and runs the command all the same
        value = self.ensure(assign.name).value
        if not isinstance(value, Array):
            prefix[assign.name] = Text(value or EMPTY, self.span(assign.value))

    def _function_with_prefix(
        self, name: str, words: list[Argument], node: Simple, redirections: list[Redirection]
    ) -> None:
        """`NAME=value function`: the variables are gone afterwards, but for those that the function exports."""
        prefix: dict[str, Text] = {}
        scope: Scope = {}
        self.scopes.append(scope)
        try:
            for each in node.assigns:
                found = self.lookup(each.name)
                scope[each.name] = Variable() if found is None else found.copy()
                scope[each.name].temporary = True
                self._assign_prefix(each, prefix)
            self._dispatch(name, words, node, redirections, prefix)
        finally:
            self.scopes.pop()
            self.changed()
        for each_name, variable in scope.items():
            if variable.kept:
                kept = self.ensure(each_name)
                kept.value = variable.value
                self.export(each_name)
                kept.kept = kept.temporary

    def _restore(self, saved: dict[str, Variable | None]) -> None:
        self.changed()
        for name, variable in saved.items():
            if variable is None:
                self.globals.pop(name, None)
                continue
            place = next((scope for scope in reversed(self.scopes) if name in scope), self.globals)
            place[name] = variable

    def _dispatch(
        self,
        name: str,
        words: list[Argument],
        node: Simple,
        redirections: list[Redirection],
        prefix: Mapping[str, Text],
    ) -> None:
        function = self.functions.get(name)
        if function is not None:
            self._record(words, node, redirections, prefix, function=True)
            self._call(name, self.passed(words[1:]), node)
            return
        method = self.builtin(name)
        if method is not None:
            if name in _RECORDED or (name == ":" and len(words) > 1):
                self._record(words, node, redirections, prefix, builtin=True)
            elif name in ("[", "test"):
                self.run.tests.append(self._as_command(words, node, redirections, prefix, builtin=True))
            try:
                method(words, node)
            except ReadOnly:
                self.status = 1
            return
        texts = self.texts(words)
        self._record(list(texts), node, redirections, prefix)
        self._started(texts, node)

    def external(self, words: list[Text], simple: Simple) -> None:
        """Record a program and follow what it starts."""
        self.run.hand_on(len(words))
        self._record(list(words), simple, [], {})
        self._started(words, simple)

    # ---- records

    def _record(
        self,
        words: list[Argument],
        node: Simple,
        redirections: list[Redirection],
        prefix: Mapping[str, Text],
        *,
        builtin: bool = False,
        function: bool = False,
    ) -> None:
        self.run.events.append(self._as_command(words, node, redirections, prefix, builtin=builtin, function=function))

    def _as_command(
        self,
        words: list[Argument],
        node: Simple,
        redirections: list[Redirection],
        prefix: Mapping[str, Text],
        *,
        builtin: bool = False,
        function: bool = False,
    ) -> Command:
        known = self.run.prepared.command(node, self.source)
        argv, around, redirects = tuple(self.texts(words)), self.surroundings(), tuple(redirections)
        made = {} if builtin or function else self._made(argv)
        return Command(argv, known.span, around, prefix, redirects, builtin, function, self.pipe_place, known.raw, made)

    def _made(self, argv: tuple[Text, ...]) -> Mapping[str, Source]:
        """The files written before that a program may read."""
        if not self.run.written and not self.run.outside:
            return {}
        from verlint.languages.bash.made_files import made_files, may_read

        return made_files(self.run, self.source) if may_read(argv) else {}

    # ---- programs

    def _started(self, words: list[Text], node: Simple) -> None:
        """What follows from starting a program: its output, and the scripts it runs in turn."""
        name = program_name(words[0])
        if (name.startswith("python") or name in _LAUNCHING) and any(map(_is_of_verl, words[1:12])):
            self.run.launch(len(words))
        result = self._result(name, words, node)
        self.status = None
        if result is not None:
            printed, self.status = result
            self.write(printed)
        if name in _SHELLS:
            self._shell_program(words, node)
            return
        if name == "sbatch":
            self._batch(words, node)
            return
        if name == "ray" and len(words) > 3 and words[1].known == "job" and words[2].known == "submit":
            self._ray_job(words, node)
            return
        if name in CARRIERS and self._carried(words, node):
            return
        if name in ("make", "gmake") and self._make(words, node):
            return
        if name == "srun":
            words = self._with_export(words)
        inner = unwrap_one(words)
        if inner is not None:
            if inner.argv:
                unattended = self.unattended
                self.unattended = unattended or "timeout" in inner.wrappers
                self._wrapped(list(inner.argv), inner.assignments, node, inner)
                self.unattended = unattended
            return
        if self._script_by_path(words, node) or (len(words) > 2 and self._behind_stranger(name, words, node)):
            return
        if result is None and self.output is not None and not _prints_nothing(name, words):
            text = " ".join(word.shown for word in words)
            self.write(
                (
                    Hole(
                        ("unique", self.run.unique()), f"$({text})", f"output of {name or 'a command'}", self.span(node)
                    ),
                )
            )

    def _make(self, words: list[Text], node: Simple) -> bool:
        """`make -C FOLDER TARGET NAME=VALUE`: the recipes of a Makefile that is at hand, each line in its shell."""
        from verlint.languages.bash.making import made_by, making

        call = made_by(words)
        folder = self.cwd if call.folder is None else self.absolute(call.folder.parts)
        names = [(Literal(f"/{name}"),) for name in NAMES] if call.file is None else [(Literal("/"), *call.file.parts)]
        source = next((found for name in names if (found := self._script((*folder, *name))) is not None), None)
        if source is None or call.unsure:
            return False
        for text, variables in making(source, call):
            start = partial(self._child, text, plain("sh"), [], node, ["-e"], text=True, cwd=folder)
            self._exporting({**variables, **call.given}, start)
        self.status = None
        return True

    def _with_export(self, words: list[Text]) -> list[Text]:
        """`srun` without `--export` goes by the list of the batch job, which Slurm tells it."""
        said = self.exported().get("SLURM_EXPORT_ENV")
        if said is None or any(word.prefix.startswith("--export") for word in words):
            return words
        return [words[0], Text((Literal("--export="), *said.parts)), *words[1:]]

    def _behind_stranger(self, name: str, words: list[Text], node: Simple) -> bool:
        """`doppler run -- bash train.sh`: a script that a program nobody knows is given can only be started by it."""
        if not name or not any(word.known in _SHELLS or program_name(word) in _SHELLS for word in words[1:-1]):
            return False
        from verlint.languages.bash.strangers import LOOKING, hands_on, script_behind

        inner = None if name in LOOKING else script_behind(words)
        if inner is None or self._script(inner[1].parts) is None:
            return False
        by = Unwrapped(tuple(inner), {}, (name,), bare=True, place=f"what {name} starts")
        self._wrapped(list(inner), {}, node, None if hands_on(name, words) else by)
        return True

    def _result(self, name: str, words: list[Text], node: Simple) -> Result:
        """Output and status of a program that is a function of its words and its input."""
        if name == "getopt":
            from verlint.languages.bash.getopt import getopt

            return getopt(words[1:])
        if name == "which" and len(words) == 2 and not self.run.closed:
            return (*self.program_path(words[1].parts, node), Literal("\n")), None
        if name in MOVERS:
            move_files(self, name, [word.parts for word in words[1:]])
            return None
        if name in MAKERS:
            self.run.makers.append([word.shown for word in words[1:]])
        stdin = None if self.input is None else self.input.parts
        found = run_filter(self, name, [word.parts for word in words[1:]], stdin)
        if found is None:
            return None
        printed = plain(flat(found[0]), self.span(node)) if name in LINE_TOOLS else found[0]
        free = overriders([*(stdin or EMPTY), *[part for word in words[1:] for part in word.parts]]) if printed else []
        return overridable(printed, free[0]) if free else printed, found[1]

    def _batch(self, words: list[Text], node: Simple) -> None:
        """`sbatch …`: the script runs later, in a shell of its own, and prints into a file.

        The key of the number that `sbatch` itself prints says which event of the run the call is."""
        from verlint.languages.slurm import batch_call

        call = batch_call(words)
        number = Hole(("job", len(self.run.events) - 1), "$(sbatch)", "number of the job", self.span(node))
        output, self.output = self.output, None
        substituting, self.substituting = self.substituting, False
        background, self.background = self.background, False
        try:
            if call.wrapped is not None:
                words = [literal("sh"), literal("-c"), call.wrapped]
                self._handed(call.export, lambda: self._wrapped(words, {**call.told, **call.exported}, node))
            elif call.words and not call.words[0].elastic:
                self._batch_script(call, node)
            elif not call.words and self.input is not None and not is_empty(self.input.parts):
                self._batch_text(call, self.input.rest(), node)
        finally:
            self.output, self.substituting, self.background = output, substituting, background
        self.status = None
        if output is not None:
            self.run.answers["empty", number.key] = False
            self.write((number,) if "parsable" in call.options else (Literal("Submitted batch job "), number))

    def _batch_script(self, call: BatchCall, node: Simple) -> None:
        """The script of a call of `sbatch`, read here and started in the folder of `--chdir`."""
        source = self._script(call.words[0].parts)
        if source is None:
            self._wrapped([literal("bash"), *call.words], {}, node)
            return
        folder = call.folder(source)
        cwd = None if folder is None else self.absolute(folder.parts)
        arguments = self.passed(list(call.words[1:]))
        self._submitted(call, source, lambda: self._child(source, call.words[0].parts, arguments, node, cwd=cwd))

    def _submitted(self, call: BatchCall, source: Source, start: Callable[[], None]) -> None:
        """Start the script of a batch job with what the call and the script let through."""
        variables = call.environment(source, self.cwd)
        self._handed(call.export_of(source), lambda: self._exporting(variables, start))

    def _handed(self, export: Export | None, start: Callable[[], None]) -> None:
        """Start something with the exported variables that a list lets through; None for all of them."""
        if export is None or export.all:
            start()
            return
        from verlint.languages.bash.carriers import Carried
        from verlint.languages.bash.handing_on import BATCH

        self._in_place(Carried((), place=BATCH, passed=tuple(export.passed)), start)

    def _in_place(self, found: Carried, start: Callable[[], None]) -> None:
        """Start something where only those variables are that it is given."""
        outside = (self.globals, self.scopes, self.exported_functions, self.elsewhere)
        self._enter_place(found)
        try:
            start()
        finally:
            self.globals, self.scopes, self.exported_functions, self.elsewhere = outside
            self.changed()

    def _batch_text(self, call: BatchCall, text: Parts, node: Simple) -> None:
        """The script of a call of `sbatch` that reads it from its input."""
        source = self._embedded(text)
        self._submitted(call, source, lambda: self._child(source, plain("sbatch"), self.passed([]), node))

    def _ray_job(self, words: list[Text], node: Simple) -> None:
        """`ray job submit … -- bash …`: the shell runs in the folder that is sent along, with the variables of the
        runtime environment. Other programs are known by the command itself."""
        at = next((at for at, word in enumerate(words) if word.known == "--"), len(words))
        inner = words[at + 1 :]
        if not inner or not (program_name(inner[0]) in _SHELLS or (inner[0].known or "").endswith(".sh")):
            return
        from verlint.languages.runtime_env import option_of, read_runtime_env, runtime_env_of_word

        folder = option_of(words, "--working-dir")
        if folder is not None and folder.known not in (".", "./") and folder.parts != self.cwd:
            return
        given, file = option_of(words, "--runtime-env-json"), option_of(words, "--runtime-env")
        source = None if file is None else self._script(file.parts)
        found = None if source is None else read_runtime_env(source)
        if given is not None:
            found = runtime_env_of_word(given)
        self._wrapped(inner, {} if found is None else {k: v.value for k, v in found.env_vars.items()}, node)

    def _carried(self, words: list[Text], node: Simple) -> bool:
        """`tmux new-session -d '…'`, `docker run … bash -c '…'`, `ssh HOST '…'`: whether the command inside was
        followed."""
        name = program_name(words[0])
        if name in ("xargs", "parallel"):
            return self._repeated(name, words, node)
        from verlint.languages.bash.carriers import carried_by

        found = carried_by(words)
        if found is None:
            return False
        script = None
        if found.env_file is not None or found.script:
            found, script = self._completed(found)
        saved = (self.background, self.unattended, self.cwd, self.output)
        outside = (self.globals, self.scopes, self.exported_functions, self.elsewhere)
        if found.apart:
            self.background = self.unattended = True
            self.output = None
        if found.foreign:
            inside = (self.hole("folder inside", "working folder there", node),)
            self.cwd = inside if found.mounted is None else self.absolute(found.mounted.parts)
        if found.place:
            self._enter_place(found)
        try:
            if not found.place and found.given:
                self._exporting(found.given, lambda: self._inside(found, script, node))
            else:
                self._inside(found, script, node)
        finally:
            self.background, self.unattended, self.cwd, self.output = saved
            self.globals, self.scopes, self.exported_functions, self.elsewhere = outside
            self.changed()
        if found.place and self.status == 0:
            self.status = None  # the way there may fail
        return True

    def _inside(self, found: Carried, script: Source | None, node: Simple) -> None:
        """Run what is carried; `script` is one that was read before, where its path is known."""
        if script is not None:
            self._child(script, found.argv[1].parts, self.passed(list(found.argv[2:])), node)
        elif found.text:
            self._command_string(list(found.argv), [], node)
        elif found.argv and program_name(found.argv[0]) in (*_SHELLS, "env"):
            self._started(list(found.argv), node)
        else:
            self.external(list(found.argv), node)

    def _completed(self, found: Carried) -> tuple[Carried, Source | None]:
        """What is carried, with the variables of its file, or with what the directives of its script say, and that."""
        from verlint.languages.bash.strangers import by_directives, with_env_file

        if found.env_file is not None:
            source = self._script(found.env_file.parts)
            return (found if source is None else with_env_file(found, source)), None
        script = self._script(found.argv[1].parts) if len(found.argv) > 1 and found.argv[1].known != "-s" else None
        return by_directives(found, script, Text(self.cwd)), script

    def _enter_place(self, found: Carried) -> None:
        """Keep of the variables those only that a container or another host gets."""
        exported = self.exported()
        inside = dict(found.given)
        for name in found.passed:
            if name.endswith("*"):
                for each in [each for each in exported if each.startswith(name[:-1])]:
                    inside.setdefault(each, exported[each])
            elif name in exported:
                inside.setdefault(name, exported[name])
            elif self.lookup(name) is None and self._from_outside(name):
                inside.setdefault(name, Text((self.environment_hole(name, Node(self.here, self.here)),)))
        self.globals = {name: Variable(text.parts, exported=True) for name, text in inside.items()}
        self.scopes, self.exported_functions = [], set()
        self.elsewhere = found.place
        self.changed()

    def _repeated(self, name: str, words: list[Text], node: Simple) -> bool:
        """`xargs` and `parallel`: the command, once for each input."""
        from verlint.languages.bash.repeating import turns_of

        unknown = self.hole("input", f"input of {name}", node)
        turns = turns_of(name, words, None if self.input is None else self.input.parts, unknown)
        for turn in turns:
            if turn.text:
                self._command_string(list(turn.argv), [], node)
            elif program_name(turn.argv[0]) in _SHELLS:
                self._started(list(turn.argv), node)
            else:
                self.external(list(turn.argv), node)
            self.status = None
        return bool(turns)

    def _wrapped(
        self, argv: list[Text], assignments: Mapping[str, Text], node: Simple, by: Unwrapped | None = None
    ) -> None:
        self.run.hand_on(len(argv))
        withheld, bare = self.withheld, self.bare
        if by is not None and by.place:
            from verlint.languages.bash.carriers import Carried

            found = Carried((), place=by.place, given=assignments, passed=tuple(sorted(by.kept)))
            self._in_place(found, lambda: self._started(argv, node))
            return
        if by is not None and (by.without or by.bare):
            self.withheld = withheld.union(self.exported() if by.bare else by.without).difference(assignments)
            self.bare = bare or by.bare
        try:
            self._exporting(assignments, lambda: self._started(argv, node))
        finally:
            self.withheld, self.bare = withheld, bare
            self.changed()

    def _exporting(self, assignments: Mapping[str, Text], start: Callable[[], None]) -> None:
        """Start something with variables that are gone afterwards."""
        saved: dict[str, Variable | None] = {}
        for name, value in assignments.items():
            found = self.lookup(name)
            saved[name] = None if found is None else found.copy()
            self.assign_value(name, None, value.parts)
            self.export(name)
        self.changed()
        try:
            start()
        finally:
            self._restore(saved)


def _is_of_verl(word: Text) -> bool:
    """Whether a word may name a program of VeRL: `verl.trainer.main_ppo`, `recipe/dapo/main_dapo.py`."""
    return "verl" in word.prefix or "main_" in word.prefix


def _prints_nothing(name: str, words: list[Text]) -> bool:
    """`python -c 'import x'`, asked only for its status."""
    if not name.startswith("python") or len(words) < 3 or words[1].known != "-c":
        return False
    code = words[2].known
    return code is not None and not re.search(r"print|write|stdout|exec|run|main", code)
