"""Makefiles: the rules with their recipes, as shell texts, as far as variables are certain.

Each line of a recipe is a shell of its own, unless the file says `.ONESHELL`; `@`, `-` and `+` in front of it are for
make. `$$` is for the shell. What a variable of the file stands for is put in; one that the environment may replace
(`?=`) or that is set nowhere stays a variable of the shell, and so does what only make knows (functions, conditionals).

Source: the manual of GNU make (recipes, automatic variables, target-specific and exported variables)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from verlint.languages.jobs.job import Block, Job
from verlint.lazy import pattern
from verlint.record import dataclass, field
from verlint.source import Piece, Source, Span
from verlint.value import Hop, Literal, Text

MAKEFILE = "Makefile"

_ASSIGNMENT = pattern(r"[ ]*(?:(export|override|private)[ \t]+)*([\w.-]+)[ \t]*(:{0,3}=|\?=|\+=)[ \t]*")
_EXPORT = pattern(r"[ ]*(un)?export\b[ \t]*([\w \t.-]*)$")
_RULE = pattern(r"([^\s:#=][^:#=]*?)[ \t]*(::?)(?!=)[ \t]*")
_CONDITION = pattern(r"[ \t]*(ifeq|ifneq|ifdef|ifndef|else|endif)\b")
_INCLUDE = pattern(r"[ ]*-?s?include\b")
_PLAIN = pattern(r"[\w@%+=:,./~ -]*")
_DEEPEST = 8
MAX_RULES = 40
"""How many rules are run for one goal."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of characters of the file that belong to a value."""

    start: int
    end: int


@dataclass(slots=True)
class Variable:
    """A variable: the runs of text that make up its value. `open`: the environment may replace it; `uncertain`: it is
    set under a condition. `define` says that its lines are lines of a recipe."""

    runs: list[_Run]
    span: Span
    open: bool = False
    uncertain: bool = False
    define: bool = False


@dataclass(slots=True)
class Rule:
    """A rule with its targets, what they need, the lines of its recipe, and the variables that hold for it alone.
    `inputs` are what they need but for what is only to be there before."""

    targets: tuple[str, ...]
    needs: tuple[str, ...]
    span: Span
    inputs: tuple[str, ...] = ()
    lines: list[_Run] = field(default_factory=list)
    variables: dict[str, Variable] = field(default_factory=dict)
    uncertain: bool = False


@dataclass(slots=True)
class Makefile:
    """A file that was read."""

    source: Source
    variables: dict[str, Variable] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    exported: set[str] = field(default_factory=set)
    all_exported: bool = False

    @property
    def one_shell(self) -> bool:
        """Whether the lines of a recipe run in one shell."""
        return any(".ONESHELL" in rule.targets for rule in self.rules)

    @property
    def options(self) -> frozenset[str]:
        """The options of the shells, as `.SHELLFLAGS` says them."""
        flags = self.variables.get(".SHELLFLAGS")
        if flags is None or flags.uncertain:
            return frozenset()
        words = self.source.text[flags.runs[0].start : flags.runs[0].end].split()
        letters = {letter for word in words if word[:1] == "-" for letter in word[1:] if letter in "eux"}
        return frozenset(letters) | (frozenset(["pipefail"]) if "pipefail" in words else frozenset())

    @property
    def goal(self) -> str:
        """The target that is made when none is named."""
        goals = (target for rule in self.rules for target in rule.targets if target[0] != "." and "%" not in target)
        return next(goals, "")

    def find(self, target: str) -> tuple[Rule, str] | None:
        """The rule with a recipe for a target, and the stem of a pattern; None without one."""
        for rule in self.rules:
            if target in rule.targets and rule.lines:
                return rule, ""
        if any(".PHONY" in rule.targets and target in rule.needs for rule in self.rules):
            return None  # make does not look for a pattern then
        for rule in self.rules:
            for each in rule.targets:
                left, percent, right = each.partition("%")
                inner = len(target) - len(left) - len(right)
                if percent and inner > 0 and target.startswith(left) and target.endswith(right) and rule.lines:
                    return rule, target[len(left) : len(left) + inner]
        return None

    def needs(self, target: str) -> tuple[str, ...]:
        """All that a target needs."""
        return tuple(need for rule in self.rules if target in rule.targets for need in rule.needs)

    def own(self, target: str) -> dict[str, Variable]:
        """The variables that hold for a target and for what it needs."""
        return {name: each for rule in self.rules if target in rule.targets for name, each in rule.variables.items()}


def read_makefile(source: Source) -> Makefile:
    """The rules and variables of a file. Never raises."""
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: Source) -> None:
        self.text = source.text
        self.made = Makefile(source)
        self.depth = 0
        self.rule: Rule | None = None

    def read(self) -> Makefile:
        at = 0
        while at < len(self.text):
            end = self._line_end(at)
            if self.text[at] == "\t" and self.rule is not None:
                if self.text[at:end].strip():
                    self.rule.lines.append(_Run(at + 1, end))
                    self.rule.uncertain |= self.depth > 0
            else:
                end = self._statement(at, end)
            at = end + 1
        return self.made

    def _line_end(self, at: int) -> int:
        """The end of a line with its continuations."""
        while True:
            end = self.text.find("\n", at)
            if end < 0:
                return len(self.text)
            if not self.text[:end].endswith("\\") or end + 1 >= len(self.text):
                return end
            at = end + 1

    def _statement(self, at: int, end: int) -> int:
        line = self.text[at:end]
        if not line.strip() or line.lstrip().startswith("#"):
            return end
        if found := _CONDITION.match(line):
            self.depth += {"endif": -1, "else": 0}.get(found[1], 1)
            if self.rule is not None and found[1] != "endif":
                self.rule.uncertain |= bool(self.rule.lines)
            return end
        if line.startswith("define "):
            return self._define(at, end)
        if found := _EXPORT.match(line):
            self._export(found[2].split(), bool(found[1]))
        elif found := _ASSIGNMENT.match(line):
            self.rule = None
            self._assign(self.made.variables, found, at, end)
        elif _INCLUDE.match(line):
            self.rule = None
        elif found := _RULE.match(line):
            self._rule(found, at, end)
        return end

    def _export(self, names: list[str], taken_back: bool) -> None:
        if taken_back:
            self.made.exported.difference_update(names)
        elif names:
            self.made.exported.update(names)
        else:
            self.made.all_exported = True

    def _define(self, at: int, end: int) -> int:
        name = self.text[at + 7 : end].strip().removesuffix("=").strip()
        closing = self.text.find("\nendef", end - 1)
        closing = len(self.text) if closing < 0 else closing
        self.made.variables[name] = Variable(
            [_Run(end + 1, closing)], self.made.source.span(at, end), uncertain=self.depth > 0, define=True
        )
        return self._line_end(closing + 1) if closing < len(self.text) else closing

    def _assign(self, among: dict[str, Variable], found: re.Match[str], at: int, end: int) -> None:
        name, operator = found[2], found[3]
        start = at + found.end()
        run = _Run(start, max(start, self._before_comment(start, end)))
        if found[1] == "export":
            self.made.exported.add(name)
        known = among.get(name)
        if operator == "?=" and known is not None:
            return
        span = self.made.source.span(at, end)
        if operator == "+=" and known is not None:
            known.runs.append(run)
            known.uncertain |= self.depth > 0
            return
        uncertain = self.depth > 0 or (known is not None and known.uncertain)
        among[name] = Variable([run], span, operator in ("?=", "+="), uncertain)

    def _before_comment(self, start: int, end: int) -> int:
        found = re.search(r"(?<!\\)#", self.text[start:end])
        stop = start + found.start() if found is not None else end
        while stop > start and self.text[stop - 1] in " \t\r":
            stop -= 1
        return stop

    def _rule(self, found: re.Match[str], at: int, end: int) -> None:
        targets = tuple(found[1].split())
        start = at + found.end()
        if own := _ASSIGNMENT.match(self.text[start:end]):
            rule = Rule(targets, (), self.made.source.span(at, end))
            self._assign(rule.variables, own, start, end)
            self.made.rules.append(rule)
            self.rule = None
            return
        stop = self._before_comment(start, end)
        needs, semicolon, _ = self.text[start:stop].replace("\\\n", " ").partition(";")
        normal, _, ordered = needs.partition("|")
        inputs, words = (tuple(word for word in text.split() if "$" not in word) for text in (normal, normal + ordered))
        span = self.made.source.span(at, at + len(found[1]))
        self.rule = Rule(targets, words, span, inputs, uncertain=self.depth > 0 or bool(semicolon))
        self.made.rules.append(self.rule)


# ---- recipes


def recipe(
    made: Makefile,
    rule: Rule,
    target: str,
    stem: str = "",
    own: Mapping[str, Variable] | None = None,
    told: frozenset[str] = frozenset(),
) -> list[Source]:
    """The shell texts of a rule for a target, each for a shell of its own. `own` are variables of the target, `told`
    those that the call of make sets. None for a recipe with conditions."""
    if rule.uncertain:
        return []
    variables = {**made.variables, **(own or {})}
    automatic = {"@": target, "*": stem, "<": rule.inputs[0] if rule.inputs else "", "^": " ".join(rule.inputs)}
    if stem:
        automatic = {key: value.replace("%", stem) if key in "<^" else value for key, value in automatic.items()}
    texts: list[Source] = []
    writer = _Writer(made.source, variables, automatic, told)
    for line in rule.lines:
        for start, end in _lines_of(made, line, variables):
            writer.line(start, end)
            if not made.one_shell:
                texts.append(writer.made())
                writer = _Writer(made.source, variables, automatic, told)
    if made.one_shell:
        texts.append(writer.made())
    return [text for text in texts if text.text.strip()]


_REFERENCE = pattern(r"[@+-]*[ \t]*\$[({]([\w.-]+)[)}][ \t]*")


def _lines_of(made: Makefile, line: _Run, variables: Mapping[str, Variable]) -> Iterator[tuple[int, int]]:
    """A line of a recipe, or the lines of the `define` that it stands for."""
    text = made.source.text
    found = _REFERENCE.fullmatch(text[line.start : line.end])
    variable = variables.get(found[1]) if found is not None else None
    if variable is None or not variable.define or variable.uncertain:
        yield line.start, line.end
        return
    at = variable.runs[0].start
    for each in re.split(r"(?<!\\)\n", text[at : variable.runs[0].end]):
        yield at, at + len(each)
        at += len(each) + 1


class _Writer:
    """Writes a shell text whose characters keep their places in the file."""

    def __init__(
        self, source: Source, variables: Mapping[str, Variable], automatic: Mapping[str, str], told: frozenset[str]
    ) -> None:
        self.source = source
        self.variables = variables
        self.automatic = automatic
        self.told = told
        self.out: list[str] = []
        self.pieces: list[Piece] = []
        self.at = 0
        self.quote = ""

    def made(self) -> Source:
        """The text as a source of its own."""
        return Source(self.source.path, "".join(self.out), self.source, tuple(self.pieces))

    def line(self, start: int, end: int) -> None:
        """Add a line of a recipe."""
        text = self.source.text
        while start < end and text[start] in "@+- \t":
            start += 1
        self._expand(text[start:end].replace("\\\n\t", "\\\n "), start, None, 0)
        self._put("\n", None)
        self.quote = ""

    def _put(self, text: str, outer: int | None, length: int | None = None) -> None:
        if outer is not None and text:
            self.pieces.append(Piece(self.at, outer, len(text) if length is None else min(length, len(text))))
        self.out.append(text)
        self.at += len(text)

    def _shell_variable(self, text: str, outer: int, length: int) -> None:
        """A variable for the shell, also where single quotes keep the shell from looking."""
        self._put(f"'\"{text}\"'" if self.quote == "'" else text, outer, length)

    def _expand(self, text: str, outer: int, reference: tuple[int, int] | None, depth: int) -> None:
        """Add a text in which make puts in its variables; `reference` is where the outermost one stands."""
        at = 0
        while at < len(text):
            found = text.find("$", at)
            found = len(text) if found < 0 else found
            self._literal(text[at:found], outer + at, reference)
            if found >= len(text):
                return
            at = self._reference(text, found, outer, reference, depth)

    def _literal(self, text: str, outer: int, reference: tuple[int, int] | None) -> None:
        skip = False
        for char in text:
            if skip or (char == "\\" and self.quote != "'"):
                skip = not skip
            elif char in "'\"" and self.quote in ("", char):
                self.quote = "" if self.quote else char
        place = outer if reference is None else reference[0]
        self._put(text, place, None if reference is None else reference[1])

    def _reference(self, text: str, at: int, outer: int, reference: tuple[int, int] | None, depth: int) -> int:
        """Add what stands for the `$…` at an offset; gives the offset behind it."""
        if text[at + 1 : at + 2] == "$":
            self._put("$", outer + at if reference is None else reference[0], 1)
            return at + 2
        closing = {"(": ")", "{": "}"}.get(text[at + 1 : at + 2])
        end = at + 2 if closing is None else _closing(text, at + 1, text[at + 1], closing)
        name = text[at + 1 : end] if closing is None else text[at + 2 : end - 1]
        place = (outer + at, end - at) if reference is None else reference
        self._variable(name, place, depth)
        return end

    def _variable(self, name: str, place: tuple[int, int], depth: int) -> None:
        variable = self.variables.get(name)
        if name == "MAKE":
            self._put("make", *place)
        elif name in self.automatic and "$" not in self.automatic[name]:
            self._put(self.automatic[name], *place)
        elif name.isidentifier() and (name in self.told or variable is None or variable.uncertain):
            self._shell_variable(f"${{{name}}}", *place)
        elif variable is None or variable.uncertain or depth > _DEEPEST:
            known = re.sub(r"\W+", "_", name).strip("_")[:40].upper() or f"VALUE_{place[0]}"
            self._shell_variable(f"${{MAKE_{known}:?}}", *place)
        else:
            self._value(name, variable, place, depth)

    def _value(self, name: str, variable: Variable, place: tuple[int, int], depth: int) -> None:
        value = " ".join(self.source.text[run.start : run.end] for run in variable.runs)
        value = re.sub(r"[ \t]*\\\n[ \t]*", " ", value)
        if variable.open and name.isidentifier() and _PLAIN.fullmatch(value):
            self._shell_variable(f"${{{name}:-{value}}}", *place)
            return
        self._expand(value, 0, place, depth + 1)


def _closing(text: str, at: int, opening: str, closing: str) -> int:
    depth = 0
    for number in range(at, len(text)):
        depth += (text[number] == opening) - (text[number] == closing)
        if not depth:
            return number + 1
    return len(text)


def environment(made: Makefile, own: Mapping[str, Variable], told: frozenset[str] = frozenset()) -> dict[str, Text]:
    """The variables that make exports to a recipe, as far as they are plain."""
    variables = {**made.variables, **own}
    names = {name for name in variables if name.isidentifier()} if made.all_exported else made.exported | set(own)
    out: dict[str, Text] = {}
    for name in sorted(names):
        variable = variables.get(name)
        exported = made.all_exported or name in made.exported
        if variable is None or variable.uncertain or name in told or not exported:
            continue
        value = " ".join(made.source.text[run.start : run.end] for run in variable.runs)
        if _PLAIN.fullmatch(value):
            part = Literal(value, None, (Hop(variable.span),), overridable=name if variable.open else "")
            out[name] = Text((part,), variable.span)
    return out


def steps(
    made: Makefile, goal: str, inherited: Mapping[str, Variable] | None = None
) -> Iterator[tuple[Rule, str, str, Mapping[str, Variable]]]:
    """The rules that are run for a goal, what it needs first: each with the target, the stem, and the variables that
    hold for it."""
    seen: set[str] = set()

    def visit(
        target: str, own: Mapping[str, Variable], depth: int
    ) -> Iterator[tuple[Rule, str, str, Mapping[str, Variable]]]:
        if target in seen or depth > _DEEPEST or len(seen) > MAX_RULES:
            return
        seen.add(target)
        found = made.find(target)
        mine = {**own, **made.own(target)}
        needs = made.needs(target) or (found[0].needs if found is not None else ())
        for need in needs:
            stem = found[1] if found is not None else ""
            yield from visit(need.replace("%", stem) if stem else need, mine, depth + 1)
        if found is not None:
            yield found[0], target, found[1], mine

    yield from visit(goal, inherited or {}, 0)


# ---- as jobs


def makefile_jobs(source: Source) -> Iterator[Job]:
    """A job for every target that something is run for, each once for the variables that it gets."""
    made = read_makefile(source)
    done: set[tuple[str, tuple[str, ...]]] = set()
    goals = [target for rule in made.rules for target in rule.targets if target[0] != "." and "%" not in target]
    for goal in dict.fromkeys(goals):
        for rule, target, stem, own in steps(made, goal):
            key = (target, tuple(f"{name}@{each.span.start}" for name, each in own.items()))
            if key in done or len(done) > MAX_RULES * 4:
                continue
            done.add(key)
            variables = environment(made, own)
            blocks = tuple(
                Block(text, None, f"{target}[{number}]", variables, options=made.options)
                for number, text in enumerate(recipe(made, rule, target, stem, own))
            )
            if blocks:
                yield Job(MAKEFILE, target, rule.span, blocks, "./")
