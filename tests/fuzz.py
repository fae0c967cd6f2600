"""What must hold for every input whatever, damaged copies of the fixtures, and a program that tries many of them.

    python tests/fuzz.py --seconds 600    # damaged fixtures, one after the other
    python tests/fuzz.py FILE ...         # the same demands on files of your own

An input that breaks a demand is written to the current folder, and the program ends with 1. A check of one input that
takes longer than 20 s of processor time counts as endless."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import verlint
from verlint.finding import Finding
from verlint.fix import apply_fixes
from verlint.report import FORMATS, render
from verlint.result import Report
from verlint.source import Span

ROOT = Path(__file__).resolve().parent.parent

LONGEST = 20
"""Seconds of processor time for one input."""

NAMES = {".sh": "run.sh", ".yaml": "t.exp.yaml", ".yml": ".github/workflows/t.yml", ".md": "README.md", ".py": "tool.py",
         ".toml": "verlint.toml", ".sbatch": "run.sbatch"}  # fmt: skip
"""The name that a text is given by the suffix of its seed."""

ALWAYS = {"verlint.toml": "run.sh"}
"""What stands beside a file that alone is nothing to check."""


class BrokenError(AssertionError):
    """A demand that an input breaks."""


# ---- what must hold


def examine(name: str, data: bytes) -> None:
    """Check a file of this name and content in a folder of its own, in every format, and again with its fixes made.
    Raises BrokenError."""
    with _folder(name, data):
        try:
            report = verlint.check(".")
        except verlint.CheckError as error:
            if name != "verlint.toml":
                raise BrokenError(f"refused: {error}") from error
            return
        _demand(report)
        fixed = apply_fixes(report.findings, unsafe=True)
        for source, text in fixed.texts.items():
            Path(source.path).write_text(text, "utf-8", "surrogateescape", "")
        if fixed.texts:
            _demand(verlint.check("."))


@contextlib.contextmanager
def _folder(name: str, data: bytes) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if name in ALWAYS:
            Path(ALWAYS[name]).write_text("python3 -m verl.trainer.main_ppo data.train_files=/home/x/a.parquet\n")
        yield


def _demand(report: Report) -> None:
    if report.crashed:
        raise BrokenError("; ".join(each.message for each in report.findings if each.code == "VL000") or "crashed")
    for finding in report.findings:
        for span in _spans(finding):
            if not 0 <= span.start <= span.end <= len(span.source.text):
                raise BrokenError(
                    f"{finding.code}: place {span.start}-{span.end} of {len(span.source.text)} characters"
                )
    for form in FORMATS:
        text = render(report, form)
        text.encode("utf-8")
        READERS.get(form, _plain)(text)


def _spans(finding: Finding) -> Iterator[Span]:
    spans = [finding.span, *(each.span for each in finding.related), *(hop.span for hop in finding.hops)]
    if finding.fix is not None:
        spans += [edit.span for edit in finding.fix.edits]
    yield from (span for span in spans if span is not None)


def _plain(text: str) -> None:
    found = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    if found:
        raise BrokenError(f"control character {found.group()!r} in the output")


READERS: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("json", "sarif", "gitlab", "rdjson"), json.loads),
    "junit": ElementTree.fromstring,
}
"""How the output of a format is read again."""


# ---- damage


def seeds() -> list[tuple[str, bytes]]:
    """Name and content of the fixtures' files, each content once."""
    found: dict[bytes, str] = {}
    for path in sorted((ROOT / "fixtures").rglob("*")):
        if path.suffix in NAMES and path.is_file() and not path.is_symlink():
            found.setdefault(path.read_bytes(), NAMES[path.suffix])
    return [(name, data) for data, name in found.items()]


def _lines(change: Callable[[list[bytes], random.Random], object]) -> Callable[[bytes, random.Random], bytes]:
    def damage(data: bytes, chance: random.Random) -> bytes:
        lines = data.splitlines(keepends=True)
        if lines:
            change(lines, chance)
        return b"".join(lines)

    return damage


def _insert(*pieces: bytes) -> Callable[[bytes, random.Random], bytes]:
    def damage(data: bytes, chance: random.Random) -> bytes:
        at = chance.randint(0, len(data))
        return data[:at] + chance.choice(pieces) + data[at:]

    return damage


def _swap(lines: list[bytes], chance: random.Random) -> None:
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _number(data: bytes, chance: random.Random) -> bytes:
    """One or all of the numbers beyond what anybody means."""
    numbers = list(re.finditer(rb"\d+(\.\d+)?", data))
    if not numbers:
        return data
    other = chance.choice(EXTREMES)
    if chance.random() < 0.3:
        return re.sub(rb"\d+", lambda match: other, data)
    start, end = chance.choice(numbers).span()
    return data[:start] + other + data[end:]


EXTREMES = (b"0", b"-1", b"-0", b"0.5", b"1e999", b".inf", b"nan", b"1_0", b"999999999", b"1000000000000", b"9" * 25,
            b"9" * 400, b"1" * 5000)  # fmt: skip

DAMAGE: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _lines(lambda lines, chance: lines.pop(chance.randrange(len(lines)))),
    _lines(lambda lines, chance: lines.insert(chance.randint(0, len(lines)), chance.choice(lines))),
    _lines(_swap),
    _lines(lambda lines, chance: chance.shuffle(lines)),
    lambda data, chance: data[: chance.randint(0, len(data))],
    lambda data, chance: data[chance.randint(0, len(data)) :],
    lambda data, chance: data.replace(b"\n", b"\r\n"),
    lambda data, chance: data.replace(b"    ", b"\t"),
    lambda data, chance: data.replace(b" ", chance.choice([b"  ", b"\xc2\xa0", b"\xe3\x80\x80"])),
    lambda data, chance: data.replace(chance.choice([b'"', b"'", b"$", b"{", b"}", b"\\", b"="]), b"", chance.randint(1, 3)),
    _insert(b"\0", b"\xff", b"\xed\xa0\x80", "🧪".encode(), "é̂".encode(), "\u202e".encode(), b"\xef\xbb\xbf", b"\x1b[2J"),
    _insert(b"'", b'"', b"`", b"$(", b"${", b"$((", b"((", b"[[", b"<<EOF\n", b"<<<", b"\\\n", b"\\ \n", b";;", b"&", b"|"),
    _insert(b"${x:=${y:-${z}}}", b"${!x}", b"${x@Q}", b"{1..3}", b"{a,b}", b"$'\\x41'", b"eval ", b"source x.sh\n", b"set -x\n"),
    _insert(b"while :; do\n", b"done\n", b"if true; then\n", b"fi\n", b"f() { f; }\nf\n", b"for i in *; do\n", b"case $x in\n"),
    _insert(b"&a ", b"*a ", b"<<: *a\n", b"? ", b"!!binary ", b"- - - ", b"|\n", b">-\n", b"{", b"[", b"%YAML 9\n", b"---\n"),
    _insert(b"```bash\n", b"```\n", b"~~~sh\n", b"> ", b"<details>", b"$ ", b"    "),
    _insert(b"+", b"++", b"~", b"@x=", b"a.b=[", b"a={b:", b"=\\", b"${oc.env:X}", b"${a.b}", b"[rules.VL101]\n", b'"""'),
    _insert(b"(" * 300, b"[" * 300, b"{" * 300, b"$(" * 150, b"${x:-" * 150, b"a" * 5000, b" " * 5000, b"\\\n" * 500),
    _insert(b"9" * 400, b"-1", b"0x", b"1e999", b"$((2**63))", b"$((1/0))", b"08"),
    _number,
)  # fmt: skip


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A copy with one to three kinds of damage."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        data = chance.choice(DAMAGE)(data, chance)
    return data


# ---- the program


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Raise BrokenError when the body takes too long."""

    def stop(*_: object) -> None:
        raise BrokenError(f"more than {LONGEST} s")

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def try_one(name: str, data: bytes) -> bool:
    """Examine an input; keep it and say why when it breaks a demand."""
    try:
        with bounded():
            examine(name, data)
    except Exception as error:
        kept = Path(f"broken-{abs(hash(data)) % 10**8:08}-{Path(name).name}")
        kept.write_bytes(data)
        print(f"{kept}: {type(error).__name__}: {error}")
        return False
    return True


def try_damaged(seconds: float, seed: int) -> int:
    """Damaged fixtures until the time is over; the number of inputs that broke a demand."""
    chance, texts = random.Random(seed), seeds()
    end, tried, broken = time.process_time() + seconds, 0, 0
    while time.process_time() < end:
        name, data = chance.choice(texts)
        broken += not try_one(name, damaged(data, chance))
        tried += 1
    print(f"{tried} inputs, {broken} broken")
    return broken


def main() -> int:
    """The command of this file."""
    parser = argparse.ArgumentParser(description="Look for inputs that verlint cannot take.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=int, default=60, help="of processor time (default 60)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the damage (default: the time)")
    parser.add_argument(
        "--guided", type=Path, metavar="FOLDER", help="let atheris look for inputs, and keep them there"
    )
    called = parser.parse_args()
    if called.files:
        return int(sum(not try_one(NAMES.get(path.suffix, path.name), path.read_bytes()) for path in called.files) > 0)
    print(f"seed {called.seed}")
    return int(try_damaged(called.seconds, called.seed) > 0)


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    raise SystemExit(main())
