"""A program from the network runs as it arrives.

Whatever the server sends today is executed with the rights of the user and the credentials of the environment. Nobody
has read it, nothing records which text it was, a line that breaks off runs as far as it came, and tomorrow the same
set-up may install something else. Found are `curl … | sh`, `bash <(curl …)`, `sh -c "$(wget -O- …)"`, `eval`, `source`
and `python -` over the same.

In documents this is for information: the reader types it once and can look first. Silent are addresses of this
machine, and addresses that name a version (`…/uv/0.7.2/install.sh`), which give the same text every time.

Fix: download the file, read it, keep its checksum (`curl -o install.sh URL && sha256sum -c install.sha256`) and run the
copy; or install the package from an index with a pinned version (`pip install uv==0.7.2`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verlint.experiment.project import Project
from verlint.files.kinds import Kind
from verlint.files.loading import Loaded
from verlint.finding import Finding
from verlint.languages.bash.syntax import CommandSub, Lit, Node, Pipeline, ProcessSub, Program, Simple, Word
from verlint.languages.bash.walk import literal_word, walk
from verlint.lazy import pattern
from verlint.rule import INFO, WARNING, Context, rule
from verlint.source import Source

_FETCHERS = frozenset(["curl", "wget"])
_SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh"])
_BEFORE = frozenset(["sudo", "env", "exec", "command", "time", "-E", "-H"])
_PYTHON = pattern(r"(?:python|pypy|perl|ruby|node)(?:\d+(?:\.\d+)*)?")
_ADDRESS = pattern(r"(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}/?\S*|https?://\S+")
_LOCAL = pattern(r"(?:https?://)?(?:localhost|127\.|0\.0\.0\.0|\[::1\])")
_VERSION = pattern(r"/v?\d+\.\d+(?:\.\d+)*(?:[-.]\w+)*/|/[0-9a-f]{40}/")


@rule("VL507", "pipe-to-shell", on=Loaded, severity=WARNING, since="0.1", words=("curl", "wget"))
def check(file: Loaded, ctx: Context) -> Iterator[Finding]:
    if not any(name in file.source.text for name in _FETCHERS):
        return
    for source, program in _texts(file, ctx.project):
        seen: set[int] = set()
        for node in (each for group in program.groups for each in walk(group)):
            for whole, fetch, runner in _runs(node):
                if whole.start not in seen and not _excused(fetch, source):
                    seen.add(whole.start)
                    yield _finding(whole, fetch, runner, source, file, ctx)


def _texts(file: Loaded, project: Project) -> Iterator[tuple[Source, Program]]:
    """The shell texts of a file: a launcher, the fences of a document, the `run` texts of a spec."""
    if file.kind is not Kind.SPEC:
        for script in project.scripts:
            if script.source is file.source:
                yield from script.syntax
        return
    from verlint.experiment.spec_runs import run_text
    from verlint.languages.bash.parser import parse

    for spec in (each.spec for each in project.specs if each.source is file.source):
        for stage in spec.stages.values() if spec is not None else ():
            text = run_text(stage)
            if text is not None:
                yield text, parse(text.text)


def _finding(whole: Node, fetch: Simple, runner: str, source: Source, file: Loaded, ctx: Context) -> Finding:
    address = _address(fetch, source)
    plain = " over an open connection" if address.startswith("http://") else ""
    return ctx.fail(
        source.span(whole.start, whole.end),
        f"`{runner}` runs what {_host(address)} sends{plain}, unread and in whatever version it is today",
        help="download it, check its checksum, then run the copy; or install a pinned version from a package index",
        severity=INFO if file.kind is Kind.DOCUMENT else None,
    )


def _runs(node: Node) -> Iterator[tuple[Node, Simple, str]]:
    """The places in a node where fetched text is run: the whole, the fetching command, the program that runs it."""
    if isinstance(node, Pipeline) and len(node.commands) > 1:
        commands = [each for each in node.commands if isinstance(each, Simple)]
        fetch = commands[0] if len(commands) == len(node.commands) and _fetches(commands[0]) else None
        runner = _reads_program(commands[-1]) if fetch is not None else ""
        if fetch is not None and runner:
            yield node, fetch, runner
    elif isinstance(node, Simple):
        yield from _substituted(node)


def _substituted(node: Simple) -> Iterator[tuple[Node, Simple, str]]:
    words = _names(node)
    name = words[0].rsplit("/", 1)[-1] if words else ""
    for word in node.words:
        for part in walk(word):
            if not isinstance(part, (CommandSub, ProcessSub)):
                continue
            fetch = next((each for each in walk(part.body) if isinstance(each, Simple) and _fetches(each)), None)
            if fetch is None:
                continue
            if isinstance(part, ProcessSub) and part.direction == "<":
                runs = name in _SHELLS or name in ("source", ".") or _PYTHON.fullmatch(name) is not None
            else:
                whole = isinstance(word, Word) and _is_whole(word, part)
                runs = whole and (name == "eval" or (name in _SHELLS and "-c" in words))
            if runs:
                yield node, fetch, name


def _is_whole(word: Word, part: Node) -> bool:
    """Whether a word is one substitution, quoted or not, and not text with one in it."""
    literal = "".join(each.text for each in walk(word) if isinstance(each, Lit) and each.start < part.start)
    return not literal.strip()


def _names(node: Simple) -> list[str]:
    """The literal words of a command behind `sudo` and kin."""
    words = [literal_word(word) for word in node.words]
    while words and words[0] in _BEFORE:
        words = words[1:]
    return words


def _fetches(node: Simple) -> bool:
    """Whether a command prints what it gets from the network."""
    words = _names(node)
    if not words or words[0].rsplit("/", 1)[-1] not in _FETCHERS:
        return False
    if words[0].endswith("wget"):
        return any(word in ("-O-", "-qO-", "--output-document=-", "-") or word.endswith("O-") for word in words)
    return not any(word in ("-o", "-O", "--output", "--remote-name", "-I", "--head") for word in words)


def _reads_program(node: Simple) -> str:
    """The program that takes its text from the pipe, "" when the command does something else with it."""
    words = _names(node)
    name = words[0].rsplit("/", 1)[-1] if words else ""
    rest: Sequence[str] = words[1:]
    if name in _SHELLS:
        at = next((number for number, word in enumerate(rest) if not word.startswith("-")), None)
        reads = at is None or "-s" in rest[:at] or rest[at - 1 : at] == ["--"]
        return name if reads and "-c" not in rest else ""
    if _PYTHON.fullmatch(name):
        return name if not rest or rest[0] == "-" else ""
    return name if name in ("source", ".") and rest[:1] == ["/dev/stdin"] else ""


def _excused(fetch: Simple, source: Source) -> bool:
    address = _address(fetch, source)
    return bool(_LOCAL.match(address) or _VERSION.search(address))


def _address(fetch: Simple, source: Source) -> str:
    """The address that is fetched, as written; "" when no word looks like one."""
    for word in fetch.words[1:]:
        text = source.text[word.start : word.end].strip("\"'")
        if not text.startswith("-") and (_ADDRESS.fullmatch(text) or _LOCAL.match(text) or "://" in text):
            return text
    return ""


def _host(address: str) -> str:
    host = address.split("://", 1)[-1].split("/", 1)[0]
    return host if host and "$" not in host else "the server"
