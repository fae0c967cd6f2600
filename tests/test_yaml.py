"""Located YAML: places, types, aliases, repeated keys, errors; and that no text makes the reader fail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verlint.languages.yaml import (
    DEEPEST,
    Mapping,
    Node,
    Scalar,
    Sequence,
    YamlFile,
    embedded,
    parse_yaml,
    plain,
    walk,
)
from verlint.source import Source, Span


def read(text: str) -> YamlFile:
    return parse_yaml(Source("spec.yaml", text))


def root(text: str) -> Node:
    file = read(text)
    assert file.error is None
    assert file.root is not None
    return file.root


def at(text: str, *keys: str | int) -> Node:
    node = root(text)
    for key in keys:
        if isinstance(key, int):
            assert isinstance(node, Sequence)
            node = node.items[key]
        else:
            assert isinstance(node, Mapping)
            found = node.get(key)
            assert found is not None
            node = found
    return node


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-12", -12),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e-6", 1e-6),
        ("5.", 5.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ("yes", "yes"),
        ("off", "off"),
        ("12:30:00", "12:30:00"),
        ("1_000", "1_000"),
        ("2..100/2", "2..100/2"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ('!!int "5"', 5),
        ("!own 5", "5"),
        ("9" * 5000, "9" * 5000),
        ('"\\ud800"', "\ufffd"),
    ],
)
def test_scalars_are_typed_by_yaml_1_2(text: str, value: object) -> None:
    node = at(f"key: {text}\n", "key")
    assert isinstance(node, Scalar)
    assert node.value == value
    assert type(node.value) is type(value)


@pytest.mark.parametrize(
    ("text", "keys", "written"),
    [
        ("a: 1\nb: two words # note\n", ["b"], "two words"),
        ("a: 'it''s'\n", ["a"], "'it''s'"),
        ("a: &x {k: 1}\nb: 2\n", ["a"], "{k: 1}"),
        ("a: !!str &x\n  text\n", ["a"], "text"),
        ("a:\n  - 1\n  - 2\n\n# note\nb: 3\n", ["a"], "- 1\n  - 2"),
        ("a:\n  k: 1\n  l: {m: 2}\n\nb: 3\n", ["a"], "k: 1\n  l: {m: 2}"),
        ("a: |\n  one\n\n\nb: 3\n", ["a"], "|\n  one"),
        ("😀: 'ä😀'\r\nb: [é]\r\n", ["b", 0], "é"),
        ("\ufeffa: 1\n", ["a"], "1"),
        ("a: x\n  y\n", ["a"], "x\n  y"),
    ],
)
def test_spans_cover_what_is_written(text: str, keys: list[str | int], written: str) -> None:
    assert at(text, *keys).span.text == written


@pytest.mark.parametrize(("text", "line", "column"), [("a:\nb: 1\n", 1, 3), ("a: # note\nb: 1\n", 1, 3)])
def test_an_empty_value_stands_after_its_colon(text: str, line: int, column: int) -> None:
    span = at(text, "a").span
    assert (span.begin.line, span.begin.column, span.text) == (line, column, "")


def test_an_alias_stands_where_it_is_used_and_knows_its_anchor() -> None:
    text = "base: &base {k: 1}\nuse: *base\nword: &w text\nagain: *w\n"
    use, again = at(text, "use"), at(text, "again")
    assert isinstance(use, Mapping)
    assert isinstance(again, Scalar)
    assert (use.span.text, use.written.text, use.anchor and use.anchor.text) == ("*base", "{k: 1}", "&base")
    assert (again.value, again.span.text, again.written.text) == ("text", "*w", "text")
    assert at(text, "use", "k").span.begin.line == 1


def test_merges_are_flattened_and_own_keys_win() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {x: 0, <<: [*a, *b]}\n"
    merged = at(text, "c")
    assert isinstance(merged, Mapping)
    assert plain(merged) == {"x": 0, "y": 1, "z": 2}
    assert [entry.key.text for entry in merged.entries] == ["x", "<<"]
    assert {key: entry.merged.text if entry.merged else None for key, entry in merged.flat.items()} == {
        "x": None,
        "y": "*a",
        "z": "*b",
    }
    assert merged.flat["z"].key.span.begin.line == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: 1\nb: 2\na: 3\n", [("a", 3, 1)]),
        ("a: {k: 1, k: 2, k: 3}\n", [("k", 1, 1), ("k", 1, 1)]),
        ('a: 1\n"a": 2\n', [("a", 2, 1)]),
        ("m: &m {a: 1}\nn: {<<: *m, a: 2}\n", []),
        ("m: &m {a: 1}\nn:\n  <<: *m\n  <<: *m\n", [("<<", 4, 3)]),
        ("\"<<\": 1\n'<<': 2\n", [("<<", 2, 1)]),
        ("1: a\n'1': b\n", []),
        ("a: {k: 1}\nb: {k: 1}\n", []),
        ("m: &m {a: 1, a: 2}\nn: *m\no: *m\n", [("a", 1, 1)]),
    ],
)
def test_repeated_keys(text: str, found: list[tuple[str, int, int]]) -> None:
    duplicates = read(text).duplicates
    assert [(each.key, each.span.begin.line, each.first.begin.line) for each in duplicates] == found


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("a: {b: ${v}}\n", "${v}", "`${…}` must be quoted inside `{…}` or `[…]`", 'quote it: "${v}"'),
        ("a: [x/${v.w}/y]\n", "x/${v.w}/y", "`${…}` must be quoted inside `{…}` or `[…]`", 'quote it: "x/${v.w}/y"'),
        ("a:\n\tb: 1\n", "\t", "a tab cannot stand here", "use spaces"),
        ("a: @b\n", "@", "a value cannot start with `@`", "quote the value"),
        ("a: b: c\n", ":", "a `key:` cannot stand here", "quote the value, or indent the key as the lines around it"),
        ("a: 'b\n", "'", "the quote that opens here is never closed", "add the closing '"),
        ("a: {b: 1\n", "{", "the `{` of line 1 is never closed", "add `}`"),
        (
            "a: [1 2, 'b' c]\n",
            "c",
            "a `,` or `]` is missing in the `[` of line 1",
            "add the missing `,` or `]`, or quote the value",
        ),
        ("a: 1\nwrong\nb: 2\n", "wrong", "this line has no `key:`", "write `key: value`, with a blank after the colon"),
        ("a:\n\xa0\xa0", "\xa0\xa0", "this line has no `key:`", "write `key: value`, with a blank after the colon"),
        (
            'a: "\\q"\n',
            "\\q",
            "this backslash escape does not exist in double quotes",
            "double the backslash, or use single quotes",
        ),
        (
            "a: *b\n",
            "*b",
            "the alias `*b` has no anchor before it",
            'define `&b` before it, or quote the value: "*b"',
        ),
        ("a: &a [*a]\n", "*a", "the alias `*a` stands inside its own anchor", ""),
        ("<<: 1\n", "1", "`<<` merges mappings only", "give it an alias of a mapping"),
        ("a: \x00\n", "\x00", "the character U+0000 is not allowed in YAML", ""),
        ("[" * 10_000, "[", f"more than {DEEPEST} levels of nesting: what is here is not checked", ""),
    ],
)
def test_errors_in_plain_words(text: str, place: str, message: str, hint: str) -> None:
    error = read(text).error
    assert error is not None
    assert (error.span.text, error.message, error.hint) == (place, message, hint)


def test_an_alias_bomb_is_an_error_and_not_expanded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    error = read("\n".join(lines)).error
    assert error is not None
    assert error.message == "the aliases stand for more than 100,000 values"


def test_nesting_through_aliases_is_bounded() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 400))]
    error = read("\n".join(lines)).error
    assert error is not None
    assert error.message == f"more than {DEEPEST} levels of nesting: what is here is not checked"


@pytest.mark.parametrize(
    ("text", "documents"),
    [("", []), ("# note\n", []), ("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]), ("---\n", [None])],
)
def test_documents(text: str, documents: list[object]) -> None:
    file = read(text)
    assert file.error is None
    assert [plain(each) for each in file.documents] == documents


@pytest.mark.parametrize(
    ("text", "word", "line", "column"),
    [
        ("run: |\n  set -e\n    train --x\n\n  done\n", "done", 5, 3),
        ("run: |\n  set -e\n    train --x\n", "train", 3, 5),
        ("run: |2-\n    set -e\n   train\n", "train", 3, 4),
        ("a:\n  run: >-\n    one two\n    three\n\n    four\n", "four", 6, 5),
        ("a:\n  run: >-\n    one two\n    three\n", "three", 4, 5),
        ("run: |\r\n  one\r\n  two\r\n", "two", 3, 3),
        ("run: 'it''s two'\n", "two", 1, 13),
        ('run: "a\\tb\\\n  two"\n', "two", 2, 3),
        ("run: one\n  two\n", "two", 2, 3),
        ("x: &x |\n  one two\ny: *x\nrun: *x\n", "two", 2, 7),
    ],
)
def test_embedded_text_has_true_places(text: str, word: str, line: int, column: int) -> None:
    node = at(text, *(["a", "run"] if text.startswith("a:") else ["run"]))
    assert isinstance(node, Scalar)
    inner = embedded(node)
    start = inner.text.index(word)
    span = inner.span(start, start + len(word))
    assert (span.begin.line, span.begin.column, span.in_file().text) == (line, column, word)


def spans(file: YamlFile) -> list[Span]:
    found = [each.span for each in file.duplicates] + [each.first for each in file.duplicates]
    if file.error is not None:
        found.append(file.error.span)
    for document in file.documents:
        for node in walk(document):
            found += [node.span, node.written]
            if isinstance(node, Scalar):
                inner = embedded(node)
                found += [inner.span(n, n + 1).in_file() for n in range(len(inner.text))]
    return found


FRAGMENTS = st.sampled_from(
    ["a", "b: ", ": ", "- ", "? ", "&x ", "*x", "<<: ", "{", "}", "[", "]", ", ", "'", '"', "|", ">-", "\n", "\n  ", "\n    ",
     "\r\n", "\t", "# c", "!!str ", "!t ", "---\n", "...\n", "%YAML 1.1\n", "${v}", "\\", "\\u00e9", "\\ud800", "\x00",
     "\ufeff", "😀", "é", "\x85", "\u2028", "1", "null", "2|", "@", "`", "0x", "\ud800"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(FRAGMENTS, max_size=25).map("".join) | st.text(max_size=60))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    for span in spans(read(text)):
        assert 0 <= span.start <= span.end <= len(text)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.text("ab #:'\"-{}$ 😀", min_size=1, max_size=12).map(lambda t: "x" + t.rstrip()), min_size=1, max_size=6
    )
)
def test_every_character_of_a_block_scalar_has_its_place(lines: list[str]) -> None:
    text = "key:\n  run: |\n" + "".join(f"    {line}\n" for line in lines) + "after: 1\n"
    node = at(text, "key", "run")
    assert isinstance(node, Scalar)
    inner = embedded(node)
    assert inner.text == "".join(line + "\n" for line in lines)
    assert "".join(text[inner.outer(n)] for n in range(len(inner.text))) == inner.text
