"""Makefiles: the recipes as make itself says them (`make -n`), calls of make, and what is left to the shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from verlint.languages.bash.making import made_by, making
from verlint.languages.make import environment, makefile_jobs, read_makefile
from verlint.source import Source
from verlint.value import literal

FILES = {
    "plain": "all:\n\t@python3 a.py --x=1\n\t-python3 b.py # two\n\t+ @ true\n",
    "variables": "A := 1\nB = $(A)2\nC ?= ${B}\nC += z\nall:\n\techo $(A) ${B} $C '$(C)' \"$$HOME\" $$$$\n",
    "continued": "KEYS = a=1 \\\n\tb=2 \\\n   c=3\nall:\n\tpython3 x.py \\\n\t\t$(KEYS) \\\n\t  d=4\n",
    "needed": "all: two one\none: zero\n\techo one\ntwo: zero | one\n\techo $@ of $< and $^\nzero:\n\techo zero\n",
    "patterns": "all: run-32 run-64\nrun-%:\n\tBATCH=$* bash train.sh $@\n",
    "for all": "all: html\n.PHONY: all Makefile\n%: Makefile\n\techo $@\n",
    "of a target": "B = 1\nall: B = 2\nall: low\n\techo $(B)\nlow:\n\techo low $(B)\n",
    "defined": "define RUN\npython3 a.py\npython3 b.py \\\n  c\nendef\nall:\n\t$(RUN)\n\techo $(RUN2)end\n",
    "one shell": ".ONESHELL:\nall:\n\texport B=2\n\techo $$B\n",
    "comments": "# A = 1\nA = 2 # two\n## all: makes all\nall: ## helps\n\t# for the shell\n\techo $(A)\n\n# end\n",
    "default goal": ".PHONY: x\n.DEFAULT:\nfirst:\n\techo first\nsecond:\n\techo second\n",
    "repeated": "all: a\nall: b\nall:\n\techo all\na b:\n\techo $@\n",
}


def _texts(text: str, *words: str) -> list[str]:
    call = made_by([literal(word) for word in ("make", *words)])
    return [source.text for source, _ in making(Source("Makefile", text), call)]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("name", FILES)
def test_recipes_are_those_of_make(name: str, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(FILES[name])
    ran = subprocess.run(
        ["make", "-n", "-s", "--no-print-directory"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    script = "".join(_texts(FILES[name]))
    assert _words(script) == _words(ran.stdout)


def _words(script: str) -> list[str]:
    """The words, continuations and the defaults of open variables taken away, as make prints them."""
    script = script.replace("\\\n", " ").replace("${C:-${B}}", "12").replace("${RUN2}", "")
    return script.replace("'\"${C}\"'", "'12 z'").split()


def test_what_the_caller_may_set_is_left_to_the_shell() -> None:
    text = "B ?= 8\nM := 2\nrun:\n\tpython3 a.py b=$(B) m=$(M) 'c=$(B)' model=$(MODEL) n=$(shell nproc)\n"
    assert _texts(text) == ["python3 a.py b=${B:-8} m=2 'c='\"${B:-8}\"'' model=${MODEL} n=${MAKE_SHELL_NPROC:?}\n"]
    assert _texts(text, "run", "M=4") == [
        "python3 a.py b=${B:-8} m=${M} 'c='\"${B:-8}\"'' model=${MODEL} n=${MAKE_SHELL_NPROC:?}\n"
    ]


def test_conditions_leave_a_value_open_and_a_recipe_out() -> None:
    text = "ifdef X\nB = 1\nelse\nB = 2\nendif\nrun:\n\techo $(B)\nother:\nifdef X\n\techo x\nendif\n\techo y\n"
    assert _texts(text) == ["echo ${B}\n"]
    assert _texts(text, "other") == []


def test_exported_variables_get_to_recipes() -> None:
    made = read_makefile(
        Source("Makefile", "export A = 1\nB = 2\nexport B C\nD = 3\nE = $(D)\nexport E\nall:\n\ttrue\n")
    )
    assert {name: text.known for name, text in environment(made, {}).items()} == {"A": "1", "B": "2"}
    assert environment(made, {}, frozenset(["A", "B"])) == {}


@pytest.mark.parametrize(
    ("words", "goals", "given", "unsure"),
    [
        ("-j8 -C jobs train B=2", ["train"], {"B": "2"}, False),
        ("-j 8 -f other.mk", [], {}, False),
        ("-n train", ["train"], {}, True),
        ("--directory=jobs a b X:=y", ["a", "b"], {"X": "y"}, False),
    ],
)
def test_calls_of_make(words: str, goals: list[str], given: dict[str, str], unsure: bool) -> None:
    call = made_by([literal(word) for word in ("make", *words.split())])
    assert (call.goals, {name: text.known for name, text in call.given.items()}) == (goals, given)
    assert call.unsure is unsure


@pytest.mark.parametrize(
    "text", ["", "\t", "a", "a:", "\tx\n", "define X", "a: $(", "\\", "a:\n\t$(\n\t$", "endif\n%:\n\t$*"]
)
def test_anything_is_read(text: str) -> None:
    assert list(makefile_jobs(Source("Makefile", text))) is not None
