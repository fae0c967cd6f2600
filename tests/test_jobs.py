"""Job files: their shell texts with true places, what their shells are given, and what is said about them."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from verlint.experiment.job_edits import _edit
from verlint.languages.jobs.expressions import parse_block
from verlint.languages.jobs.job import Block
from verlint.languages.yaml import Mapping, Scalar, embedded, parse_yaml
from verlint.source import Source

# Offset maps ---------------------------------------------------------------------------------------------------------

WORDS = st.text("abc=/.-_$\"'\\{}#:,|&;()<>*!?%@`~[]é😀 ", min_size=1, max_size=14).map(
    lambda text: text.strip() or "x"
)
LINES = st.lists(st.tuples(st.integers(0, 3), WORDS, st.sampled_from(["", " ", "\t"])), min_size=1, max_size=6)


def in_block(header: str, lines: list[tuple[int, str, str]], blanks: list[int], indent: int, end: str) -> str:
    out = [f"job:{end}", f"{' ' * 2}run: {header}{end}"]
    for number, (more, word, behind) in enumerate(lines):
        out += [end] * blanks.count(number)
        out.append(" " * (indent + (more if number else 0)) + word + behind + end)
    return "".join([*out, f"after: 1{end}"])


def run_of(text: str) -> Scalar | None:
    """The scalar `job.run`; None when the text is no YAML."""
    file = parse_yaml(Source("job.yaml", text))
    job = file.root.get("job") if file.error is None and isinstance(file.root, Mapping) else None
    node = job.get("run") if isinstance(job, Mapping) else None
    return node if isinstance(node, Scalar) else None


def check_places(text: str) -> None:
    node = run_of(text)
    if node is None:
        return
    inner = embedded(node)
    for at, char in enumerate(inner.text):
        written = text[inner.outer(at)]
        if at < inner.pieces[0].inner:
            assert char == "\n"  # empty lines at the start stand for the first word
        elif char in " \n":  # folding, line ends of Windows and chomping change these only
            assert written.isspace() or (node.style == '"' and written == "\\"), (at, char, written)
        elif node.style == '"' and written == "\\":
            continue
        else:
            assert written == char, (at, char, written, text)


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(["|", "|-", "|+", ">", ">-", ">+", "|  # note", "|2", ">2-"]),
    LINES,
    st.lists(st.integers(0, 6), max_size=3),
    st.integers(3, 7),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_character_of_a_block_scalar_has_its_place(
    header: str, lines: list[tuple[int, str, str]], blanks: list[int], indent: int, end: str
) -> None:
    check_places(in_block(header, lines, blanks, 4 if "2" in header else indent, end))


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(["'", '"', ""]),
    st.lists(WORDS, min_size=1, max_size=5),
    st.sampled_from([" ", "\n    ", "\n\n    ", " \n      "]),
)
def test_every_character_of_a_flow_scalar_has_its_place(quote: str, words: list[str], between: str) -> None:
    if quote == "'":
        words = [word.replace("'", "''") for word in words]
    elif quote:
        words = [json.dumps(word, ensure_ascii=False)[1:-1] for word in words]
    else:
        words = ["x" + word for word in words]
    check_places(f"job:\n  run: {quote}{between.join(words)}{quote}\nafter: 1\n")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(WORDS | st.sampled_from(["${{ a.b }}", "'${{ a }}'", '"x ${{ b }} y"', "$(( ${{ n }} ))", "\n"])).map(
        " ".join
    )
)
def test_any_text_with_expressions_is_parsed(text: str) -> None:
    program = parse_block(text)
    assert all(0 <= node.start <= node.end <= len(text) for node in program.nodes)


# Edits ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=500, deadline=None)
@given(st.data(), st.sampled_from(["|", "|-", ">", "'", '"', ""]), LINES, st.sampled_from(["\n", "\r\n"]))
def test_an_edit_that_is_offered_does_to_the_text_what_it_would_do_to_a_script(
    data: st.DataObject, style: str, lines: list[tuple[int, str, str]], end: str
) -> None:
    if style[:1] in ("|", ">"):
        text = in_block(style, lines, [], 4, end)
    else:
        text = f"job:\n  run: {style}x{' '.join(word for _, word, _ in lines)}{style}\nafter: 1\n"
    node = run_of(text)
    if node is None or not node.text:
        return
    block = Block(embedded(node), node, "run")
    start = data.draw(st.integers(0, len(node.text)))
    stop = data.draw(st.integers(start, len(node.text)))
    new = data.draw(st.sampled_from(["", "x", "new", '"$A"', "a b", "one\ntwo", "  \\\n  --x", "#", "'", "a: b"]))
    edit = _edit(block.source.span(start, stop).in_file(), new, [block])
    if edit is None:
        return
    edited = text[: edit.span.start] + edit.text + text[edit.span.end :]
    found = run_of(edited)
    assert found is not None, edited
    expected = node.text[:start] + new + node.text[stop:]
    assert found.text.rstrip("\n") == expected.rstrip("\n"), (text, edited)
