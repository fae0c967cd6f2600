"""Suppressions and directives: what a comment covers, what it takes away, and when it is itself a finding."""

from __future__ import annotations

import textwrap

import pytest

from verlint.experiment.spec_schema import INTENTS
from verlint.families import FAMILIES
from verlint.files.comments import DIRECTIVE_VALUES, comments, directives
from verlint.files.kinds import Kind
from verlint.finding import Edit, Finding, Related, Safety, Severity, Verdict
from verlint.fix import apply_fixes
from verlint.rule import Context, find_rule
from verlint.source import Source, Span
from verlint.suppress import Applied, Fault, Suppression, apply, codes_of, collect
from verlint_rules.reading import vl008_unused_suppression as vl008

SHELL, YAML, MARKDOWN, PYTHON = Kind.LAUNCHER, Kind.YAML, Kind.DOCUMENT, Kind.PYTHON


def source(text: str) -> Source:
    return Source("x", textwrap.dedent(text).removeprefix("\n"))


def at(src: Source, text: str, occurrence: int = 1) -> Span:
    start = -1
    for _ in range(occurrence):
        start = src.text.index(text, start + 1)
    return src.span(start, start + len(text))


def finding(span: Span, code: str = "VL008", value: str = "", related: Span | None = None) -> Finding:
    others = () if related is None else (Related(related, "here"),)
    return Finding(code, "slug", Severity.ERROR, Verdict.FAIL, "message", span, value=value, related=others)


def removed(edit: Edit) -> str:
    text = edit.span.source.text
    return text[: edit.span.start] + edit.text + text[edit.span.end :]


# What a comment covers -----------------------------------------------------------------------------------------------

SCOPES = {
    "trailing": (SHELL, "ls a\nls b  # verlint: x\nls c\n", ["ls b  # verlint: x"]),
    "above": (SHELL, "# verlint: x\n\n# other\nls a\nls b\n", ["ls a"]),
    "above a continued command": (SHELL, "# verlint: x\nrun a=1 \\\n    b=2 \\\n    c=3\nls\n", ["run a=1 \\\n    b=2 \\\n    c=3"]),
    "above, windows line ends": (SHELL, "# verlint: x\r\nrun \\\r\n  a=1\r\nls\r\n", ["run \\\r\n  a=1\r"]),
    "after a continued command": (SHELL, "ls\nrun a=1 \\\n  b=2 # verlint: x\nls\n", ["run a=1 \\\n  b=2 # verlint: x"]),
    "above a pipeline": (SHELL, "# verlint: x\na |\n  b &&\n  c\nd\n", ["a |\n  b &&\n  c"]),
    "above an array": (SHELL, "# verlint: x\nA=(\n  a=$(date)\n  b\n)\nls\n", ["A=(\n  a=$(date)\n  b\n)"]),
    "inside an array": (SHELL, "A=(\n  a=1 # verlint: x\n  # verlint: y\n  b=2\n  c=3\n)\n", ["  a=1 # verlint: x", "b=2"]),
    "above a here-document": (SHELL, "# verlint: x\ncat <<'E' > f\n# verlint: no\nE\nls\n", ["cat <<'E' > f\n# verlint: no\nE"]),
    "above a text over lines": (SHELL, '# verlint: x\necho "a\n# verlint: no\n"\nls\n', ['echo "a\n# verlint: no\n"']),
    "not in quotes": (SHELL, "echo '# verlint: x' \"# verlint: x\" $'\\'# verlint: x' a#verlint: ${#verlint: }\n", []),
    "a quote in a comment": (SHELL, "# don't\nls # verlint: x\n# it's\n", ["ls # verlint: x"]),
    "at the end": (SHELL, "ls\n# verlint: x", [""]),
    "behind other words": (SHELL, "ls # why not # verlint: x\n", ["ls # why not # verlint: x"]),
    "yaml, trailing": (YAML, "a: 'x # verlint: no'  # verlint: x\nb: 1\n", ["a: 'x # verlint: no'  # verlint: x"]),
    "yaml, above a node": (YAML, "# verlint: x\na:\n  b: 1\n\n  c: 2\nd: 3\n", ["a:\n  b: 1\n\n  c: 2"]),
    "yaml, above an item": (YAML, "l:\n  # verlint: x\n  - a: 1\n    b: 2\n  - c\n", ["- a: 1\n    b: 2"]),
    "yaml, above a list": (YAML, "# verlint: x\na:\n- 1\n- 2\nb: 3\n", ["a:\n- 1\n- 2"]),
    "yaml, in a block of shell": (YAML, "run: |\n  # verlint: x\n  go a=1 \\\n    b=2\n  ls\nb: 1\n", ["go a=1 \\\n    b=2"]),
    "yaml, apostrophe": (YAML, "a: don't # verlint: x\n", ["a: don't # verlint: x"]),
    "markdown, shell": (MARKDOWN, "# verlint: no\n```bash\n# verlint: x\ngo \\\n a\nls\n```\n", ["go \\\n a"]),
    "markdown, yaml": (MARKDOWN, "~~~yaml\na: 1 # verlint: x\n~~~\n", ["a: 1 # verlint: x"]),
    "markdown, html above a fence": (MARKDOWN, "t\n<!-- verlint: x -->\n```sh\nls\n```\nt\n", ["```sh\nls\n```"]),
    "markdown, html above a line": (MARKDOWN, "<!-- verlint: x -->\n\na text\nmore\n", ["a text"]),
    "markdown, open fence": (MARKDOWN, "```sh\nls # verlint: x\n", ["ls # verlint: x"]),
    "python": (PYTHON, "x = f(\n    '# verlint: no',\n    1,  # verlint: x\n)\ny = 2\n", ["x = f(\n    '# verlint: no',\n    1,  # verlint: x\n)"]),
    "python, above": (PYTHON, "def f():\n    # verlint: x\n    return [\n        1]\n", ["return [\n        1]"]),
    "python, broken": (PYTHON, "# verlint: x\nx = (\n", ["x = (\n"]),
}  # fmt: skip


@pytest.mark.parametrize("case", SCOPES)
def test_what_a_comment_covers(case: str) -> None:
    kind, text, scopes = SCOPES[case]
    assert [comment.scope.text for comment in comments(Source("x", text), kind)] == scopes


# What is taken away --------------------------------------------------------------------------------------------------


def run(src: Source, *findings: Finding, kind: Kind = SHELL, ran: set[str] | None = None) -> Applied:
    return apply(findings, collect(src, kind), ran=ran)


def test_a_suppression_takes_its_rule_away_on_its_command_only() -> None:
    src = source("""
        ls /a
        # verlint: ignore[VL008] mounted on every node
        run one=/a \\
            two=/a
        ls /a
    """)
    findings = [finding(at(src, "/a", number)) for number in (1, 2, 3, 4)]
    result = run(src, *findings)
    assert (result.kept, result.suppressed) == ([findings[0], findings[3]], findings[1:3])
    (suppression,) = collect(src, SHELL)
    assert suppression.reason == "mounted on every node"


def test_codes_prefixes_slugs_and_case_are_all_names() -> None:
    assert codes_of("VL008") == codes_of("vl008") == codes_of("unused-suppression") == {"VL008"}
    assert "VL008" in codes_of("VL0")
    assert codes_of("VL999") == frozenset()


def test_another_rule_is_not_touched() -> None:
    src = source("ls /a # verlint: ignore[VL008]\n")
    other = finding(at(src, "/a"), code="VL101")
    assert run(src, other).kept == [other]


@pytest.mark.parametrize(
    ("value", "text", "gone"),
    [
        ("data.val_files = /a", "/a", True),
        ("", "data.val_files=/a", True),
        ("", '"data.val_files=/a', True),
        ("", "++data.val_files=/a", True),
        ("data.train_files = /a", "/a", False),
        ("", "data.val_files_extra=/a", False),
    ],
)
def test_a_key_narrows_a_suppression(value: str, text: str, gone: bool) -> None:
    src = source(f"# verlint: ignore[VL008:data.val_files]\nrun {text}\n")
    result = run(src, finding(at(src, text), value=value))
    assert bool(result.suppressed) is gone


def test_a_related_place_counts() -> None:
    src = source("A=/x # verlint: ignore[VL008]\nrun $A\n")
    there = finding(at(src, "$A"), related=at(src, "/x"))
    assert run(src, there).suppressed == [there]


def test_a_finding_about_the_whole_file_is_not_taken_by_a_line() -> None:
    src = source("ls\nls # verlint: ignore[VL008]\n")
    assert run(src, finding(src.whole())).suppressed == []


def test_a_file_can_be_exempt() -> None:
    src = source("ls\n# verlint: file-ignore[VL008] an example\n")
    findings = [finding(src.whole()), finding(at(src, "ls"))]
    assert run(src, *findings).kept == []


def test_places_in_embedded_sources_are_places_in_the_file() -> None:
    from verlint.source import Piece

    file = source("run: |\n  # verlint: ignore[VL008]\n  go /a\n")
    start = file.text.index("go")
    inner = Source("x", "go /a", parent=file, pieces=(Piece(0, start, 5),))
    assert run(file, finding(inner.span(3, 5)), kind=YAML).kept == []


# What is reported ----------------------------------------------------------------------------------------------------


def reported(src: Source, *findings: Finding, kind: Kind = SHELL, ran: set[str] | None = None) -> list[Finding]:
    context = Context(find_rule("VL008"), project=None)
    reports = run(src, *findings, kind=kind, ran=ran).unused
    return [each for report in reports for each in vl008.check(report, context)]


@pytest.mark.parametrize(
    ("comment", "span", "message", "help_"),
    [
        ("ignore[VL0]", "VL0", "no finding of VL0 is left to suppress here", "delete the suppression"),
        ("ignore[VL0:a.b]", "VL0:a.b", "no finding of VL0 about a.b is left to suppress here", "delete the suppression"),
        ("file-ignore[VL0]", "VL0", "no finding of VL0 is left to suppress here", "delete the suppression"),
        ("ignore[unused-supression]", "unused-supression", "no rule is called unused-supression", "did you mean unused-suppression?"),
        ("ignore[qqq]", "qqq", "no rule is called qqq", "`verlint rules` lists all rules"),
        ("ignore", "# verlint: ignore", "this suppression names no rule, so it suppresses nothing", "write ignore[CODE] reason"),
        ("ignore[] x", "# verlint: ignore[] x", "this suppression names no rule, so it suppresses nothing", "write ignore[CODE] reason"),
        ("famly=opo", "# verlint: famly=opo", "this comment is neither a suppression nor a known directive", "did you mean family?"),
        ("ingore[VL1]", "# verlint: ingore[VL1]", "this comment is neither a suppression nor a known directive", "did you mean ignore?"),
    ],
)  # fmt: skip
def test_suppressions_without_effect_are_findings(
    monkeypatch: pytest.MonkeyPatch, comment: str, span: str, message: str, help_: str
) -> None:
    import verlint.suppress

    both = {"VL0": frozenset({"VL001", "VL008"})}  # a prefix that means more than VL008, whatever rules exist
    monkeypatch.setattr(verlint.suppress, "codes_of", lambda name: both.get(name) or codes_of(name))
    (found,) = reported(source(f"ls  # verlint: {comment}\n"))
    assert found.span is not None
    assert (found.span.text, found.message, found.help) == (span, message, help_)


@pytest.mark.parametrize(
    ("comment", "safety", "after"),
    [
        ("ignore[VL0] x", Safety.SAFE, "ls"),
        ("file-ignore[VL0]", Safety.SAFE, "ls"),
        ("ignore", Safety.SAFE, "ls"),
        ("ignore[unused-supression:a.b] x", Safety.UNSAFE, "ls  # verlint: ignore[unused-suppression:a.b] x"),
        ("ignore[qqq]", None, ""),
        ("famly=opo", None, ""),
    ],
)
def test_what_the_fix_does(comment: str, safety: Safety | None, after: str) -> None:
    (found,) = reported(source(f"ls  # verlint: {comment}\n"))
    assert (found.fix and found.fix.safety) == safety
    if found.fix is not None:
        assert [removed(edit) for edit in found.fix.edits] == [after + "\n"]


@pytest.mark.parametrize(
    ("names", "after"),
    [("VL101, VL008", "VL008"), ("VL008 , VL101", "VL008"), ("VL008,VL101,VL008", "VL008,VL008")],
)
def test_only_the_useless_part_of_a_list_goes(monkeypatch: pytest.MonkeyPatch, names: str, after: str) -> None:
    import verlint.suppress

    monkeypatch.setattr(verlint.suppress, "codes_of", lambda name: frozenset({name}))
    src = source(f"ls /a # verlint: ignore[{names}] because\n")
    (found,) = reported(src, finding(at(src, "/a")))
    assert found.fix is not None
    assert [removed(edit) for edit in found.fix.edits] == [f"ls /a # verlint: ignore[{after}] because\n"]


@pytest.mark.parametrize(
    ("names", "after"),
    [
        ("VL101,VL203,VL402", "VL101"),
        ("VL203 , VL101, VL402", "VL101"),
        ("VL203,VL402,VL101", "VL101"),
        ("qqq,VL203", "qqq"),
    ],
)
def test_the_useless_parts_of_a_list_go_together(monkeypatch: pytest.MonkeyPatch, names: str, after: str) -> None:
    import verlint.suppress

    known = {"VL101", "VL203", "VL402"}
    monkeypatch.setattr(verlint.suppress, "codes_of", lambda name: frozenset({name} & known))
    src = source(f"ls /a # verlint: ignore[{names}] because\n")
    assert list(apply_fixes(reported(src, finding(at(src, "/a"), code="VL101"))).texts.values()) == [
        f"ls /a # verlint: ignore[{after}] because\n"
    ]


def test_a_misspelt_name_stays_for_the_rename_when_the_other_one_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    import verlint.suppress

    monkeypatch.setattr(verlint.suppress, "codes_of", lambda name: frozenset({name} & {"VL203"}))
    src = source("ls # verlint: ignore[VL10l,VL203] reason\n")
    misspelt, unused = reported(src)
    assert unused.fix is not None
    assert unused.fix.safety is Safety.SAFE
    assert [removed(edit) for edit in unused.fix.edits] == ["ls # verlint: ignore[VL10l] reason\n"]
    assert misspelt.fix is not None
    assert misspelt.fix.safety is Safety.UNSAFE
    (both,) = apply_fixes([misspelt, unused], unsafe=True).texts.values()
    assert both == f"ls # verlint: ignore[{misspelt.fix.edits[0].text}] reason\n"


def test_a_comment_on_its_own_line_goes_with_its_line() -> None:
    (found,) = reported(source("ls\n  # verlint: ignore\nls\n"))
    assert found.fix is not None
    assert [removed(edit) for edit in found.fix.edits] == ["ls\nls\n"]


def test_rules_that_did_not_run_leave_no_unused_suppression(monkeypatch: pytest.MonkeyPatch) -> None:
    import verlint.suppress

    monkeypatch.setattr(verlint.suppress, "codes_of", lambda name: frozenset({name}))
    src = source("ls # verlint: ignore[VL101]\n")
    assert reported(src, ran={"VL008"}) == []
    assert len(reported(src, ran={"VL008", "VL101"})) == 1


def test_a_suppression_of_the_reports_is_never_one_of_them_and_works() -> None:
    src = source("# verlint: file-ignore[VL008]\nls # verlint: ignore\n")
    (found,) = reported(src)
    assert apply([found], collect(src, SHELL)).kept == []


def test_directives_are_no_suppressions() -> None:
    src = source("# verlint: family=opo on-policy=exact\nls\n")
    assert collect(src, SHELL) == []


def test_suppressions_compare_by_place() -> None:
    src = source("ls # verlint: ignore[VL008]\n")
    first, second = collect(src, SHELL), collect(src, SHELL)
    assert first == second
    assert isinstance(first[0], Suppression)


# Directives ----------------------------------------------------------------------------------------------------------


def test_directives_hold_for_the_file_at_the_top_else_for_the_next_command() -> None:
    src = source("""
        #!/bin/bash
        # Our run. # verlint: family=opo on-policy=exact as in the paper
        ls
        # verlint: verl=0.7.1
        go a \\
          b
        rest # verlint: later=x
    """)
    assert [
        (directive.name, directive.value, directive.span.text, directive.line, directive.file_wide)
        for directive in directives(src)
    ] == [
        ("family", "opo", "family=opo", 2, True),
        ("on-policy", "exact", "on-policy=exact", 2, True),
        ("verl", "0.7.1", "verl=0.7.1", 4, False),
        ("later", "x", "later=x", 7, False),
    ]
    assert directives(src)[2].scope.text == "go a \\\n  b"
    assert directives(src)[0].scope == src.whole()


def test_directives_take_what_families_and_specs_know() -> None:
    assert set(DIRECTIVE_VALUES["family"]) == set(FAMILIES)
    assert set(DIRECTIVE_VALUES["on-policy"]) == set(INTENTS)


@pytest.mark.parametrize(
    ("comment", "near"),
    [
        ("on-policy=exactly", ("on-policy=exact",)),
        ("family=opoo", ("family=opo",)),
        ("family=other", ()),
        ("verl=banana", ()),
    ],
)
def test_a_directive_with_a_wrong_value_is_reported(comment: str, near: tuple[str, ...]) -> None:
    source = Source("run.sh", f"# verlint: {comment}\necho\n")
    unused = apply([], collect(source, Kind.LAUNCHER)).unused
    assert [(report.fault, report.near) for report in unused] == [(Fault.MALFORMED, near)]
