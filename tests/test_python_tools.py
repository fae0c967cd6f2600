"""What is read out of Python tools: options, files, credentials, programs, and what a model wrote that is run."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from verlint.engine import check_project
from verlint.files.loading import load
from verlint.languages.python.embedded import shell_texts
from verlint.languages.python.options import Interface, read_call
from verlint.languages.python.prescan import surely_takes
from verlint.languages.python.tool import Tool, tool
from verlint.languages.python.tree import span_of, tree
from verlint.settings import Settings
from verlint.source import Source
from verlint.value import Hole, Literal, Text, literal


def made(text: str, path: str = "tool.py") -> Tool:
    return tool(Source(path, dedent(text)))


def interface(text: str) -> Interface:
    found = made(text).interface
    assert found is not None
    return found


def described(found: Interface) -> list[str]:
    """Each option in a line: names, what it takes, whether it is required, its default."""
    out = [f"{found.convention}{' closed' if found.closed else ''}"]
    for each in found.options:
        if each.dest == "help":
            continue
        count = f"{each.least}-{each.most if each.most < 1000 else 'n'}"
        need = {True: " required", None: " perhaps", False: ""}[each.required]
        default = f" = {each.default.shown}" if each.default is not None else ""
        choices = f" of {'|'.join(each.choices)}" if each.choices else ""
        out.append(f"{','.join(each.names)} -> {each.dest} {count} {each.kind}{need}{default}{choices}".rstrip())
    return out


ARGPARSE = """
    import argparse
    import os

    KINDS = ["train", "test"]
    parser = argparse.ArgumentParser(description="x")
    parser.add_argument("source", help="a folder")
    parser.add_argument("--output-dir", "-o", required=True)
    parser.add_argument("--split", choices=KINDS, default="train")
    parser.add_argument("--rows", type=int, default=-1)
    parser.add_argument("--names", nargs="+")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--shuffle", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--root", default=os.environ.get("DATA_ROOT", "/data"), dest="base")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--a", required=True)
    args = parser.parse_args()
"""


def test_argparse() -> None:
    assert described(interface(ARGPARSE)) == [
        "argparse closed",
        "source -> source 1-1 str required",
        "--output-dir,-o -> output_dir 1-1 str required",
        "--split -> split 1-1 str = train of train|test",
        "--rows -> rows 1-1 int = -1",
        "--names -> names 1-n str",
        "--fast -> fast 0-0 bool = False",
        "--shuffle,--no-shuffle -> shuffle 0-0 bool = True",
        "--root -> base 1-1 str = /data",
        "--a -> a 1-1 str perhaps",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "args, rest = parser.parse_known_args()",
        "parser.parse_args(['--x'])",
        "sub = parser.add_subparsers()\nparser.parse_args()",
        "for name in names:\n    parser.add_argument(f'--{name}')\nparser.parse_args()",
        "parser.add_argument(*flags)\nparser.parse_args()",
        "add_engine_options(parser)\nparser.parse_args()",
        "parser = EngineArgs.add_cli_args(parser)\nparser.parse_args()",
        "other = argparse.ArgumentParser()\nparser.parse_args()",
    ],
)
def test_parsers_that_take_more_than_is_written(text: str) -> None:
    found = interface(f"import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--x')\n{text}\n")
    assert not found.closed


def test_a_parser_that_is_filled_by_a_function_of_the_text_is_closed() -> None:
    found = interface(
        """
        import argparse
        def add(parser):
            parser.add_argument("--x")
        def main():
            parser = argparse.ArgumentParser()
            add(parser)
            return parser.parse_args()
        """
    )
    assert described(found) == ["argparse closed", "--x -> x 1-1 str"]


def test_options_of_functions() -> None:
    click = """
        import click
        @click.command()
        @click.option("--in-file", required=True)
        @click.option("--fast/--slow", default=False)
        @click.argument("target")
        def main(in_file, fast, target): ...
    """
    assert described(interface(click)) == [
        "click closed",
        "--in-file -> in_file 1-1  required",
        "--fast,--slow -> fast 0-0  = False",
        "target -> target 1-1  required",
    ]
    fire = "import fire\ndef main(model: str, rows: int = 3): ...\nfire.Fire(main)\n"
    assert described(interface(fire))[:2] == ["fire closed", "--model,-m,--m -> model 1-1 str perhaps"]
    typer = "import typer\ndef main(model: str, fast: bool = False): ...\ntyper.run(main)\n"
    assert described(interface(typer)) == [
        "typer closed",
        "model -> model 1-1 str required",
        "--fast,--no-fast -> fast 0-0 bool = False",
    ]
    data = """
        from dataclasses import dataclass, field
        from transformers import HfArgumentParser
        @dataclass
        class Arguments:
            model: str
            rows: int = field(default=3, metadata={})
            fast: bool = False
        (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses()
    """
    assert described(interface(data)) == [
        "dataclass closed",
        "--model -> model 1-1 str required",
        "--rows -> rows 1-1 int = 3",
        "--fast,--no_fast -> fast 0-1 bool = False",
    ]


def words(text: str) -> list[Text]:
    """Words of a call: `$X` is one that is not known, `$@` any number of them."""
    out = []
    for word in text.split():
        if word == "$@":
            out.append(Text((Hole("@", "@", "arguments"),), elastic=True))
        elif word.startswith("$"):
            out.append(Text((Hole(word, word[1:], "unknown"),)))
        else:
            out.append(literal(word))
    return out


@pytest.mark.parametrize(
    ("call", "unknown", "missing"),
    [
        ("raw --output-dir out", "", ""),
        ("raw -o out", "", ""),
        ("raw -oout --rows -1", "", ""),
        ("raw --out out --no-shuffle", "", ""),
        ("raw --output-dir=out --names a b c --fast", "", ""),
        ("--output-dir out --names a b -- raw", "", ""),
        ("$X --output-dir $Y", "", ""),
        ("--output_dir out raw", "--output_dir", "--output-dir"),
        ("raw --rows 5 --nmaes a", "--nmaes", "--output-dir"),
        ("--output-dir out", "", "source"),
        ("raw", "", "--output-dir"),
    ],
)
def test_calls_are_read_as_argparse_does(call: str, unknown: str, missing: str) -> None:
    reading = read_call(interface(ARGPARSE), words(call))
    assert " ".join(each.known or "" for each in reading.unknown) == unknown
    assert " ".join(each.name for each in reading.missing) == missing


def test_words_that_may_be_any_leave_a_call_open() -> None:
    assert not read_call(interface(ARGPARSE), words("raw $@")).certain


@pytest.mark.parametrize(
    ("options", "right"),
    [({"--output-dir", "--fast"}, False), ({"--output-dir", "--rwos"}, False), (set(), False)],
)
def test_a_quick_look_is_only_trusted_when_it_is_certain(options: set[str], right: bool) -> None:
    assert surely_takes(dedent(ARGPARSE), options) is right  # it has an argument by place


def test_a_quick_look() -> None:
    text = (
        'p = argparse.ArgumentParser()\np.add_argument("--x", required=True)\np.add_argument("--y")\np.parse_args()\n'
    )
    assert surely_takes(text, {"--x", "--y"})
    assert not surely_takes(text, {"--y"})
    assert not surely_takes(text, {"--x", "--z"})


FILES = [
    (
        'if a:\n    p = "/x"\n    open(p)\nelse:\n    p = "/y"\n    open(p, "w")\np = "/z"\nopen(p)',
        ["read /x", "write /y", "read /z"],
    ),
    ('p = "/x"\nif a:\n    p = "/y"\nopen(p)', ["read /x", "read /y"]),
    ('p = "/x"\np = p + "/y"\nopen(p)', ["read /x/y"]),
    ('p = "/x"\nfor i in n:\n    open(p)\n    p = "/y"', ["read /x", "read /y"]),
    ('import json\nwith open("/a/b.json", "w") as f:\n    json.dump({}, f)', ["write /a/b.json"]),
    (
        'for n in ["x/a", "y/b"]:\n    d.to_parquet(f"/t/{n.split(\'/\')[-1]}.parquet")',
        ["write /t/a.parquet", "write /t/b.parquet"],
    ),
    ('import os\nR = os.environ.get("R", "/r")\nopen(os.path.join(R, "x", "y.txt"))', ["read /r/x/y.txt"]),
    ('import os\nopen(os.environ["R"] + "/y.txt")', ["read ${R}/y.txt"]),
    ('from pathlib import Path\np = Path("/a") / "b"\n(p / "c.txt").write_text("")', ["write /a/b/c.txt"]),
    ('def f(name, folder="/d"):\n    open("{}/{}.txt".format(folder, name), "a")\nf("q")', ["write /d/q.txt"]),
    ('import pandas as pd\npd.read_parquet("/a.parquet").to_json("/b.json")', ["write /b.json", "read /a.parquet"]),
    ('import torch\ntorch.save(torch.load("a.pt"), "b.pt")', ["write b.pt", "read a.pt"]),
    (
        'from datasets import load_dataset\nload_dataset("json", data_files={"train": "a.json", "test": "b.json"})',
        ["read a.json", "read b.json"],
    ),
    ('from datasets import load_dataset as l\nl("org/set")', ["hub org/set"]),
    ('import shutil\nshutil.copy("a", "b/%s.txt" % "c")', ["read a", "write b/c.txt"]),
    ("import sys\nopen(sys.argv[1])", ["read <argument 1>"]),
    (
        'P = {"a": "/x/a", "b": "/x/b"}\nimport argparse\np = argparse.ArgumentParser()\np.add_argument("--k")\na = p.parse_args()\nopen(P[a.k])',
        ["read /x/a", "read /x/b"],
    ),
    (
        'import argparse\np = argparse.ArgumentParser()\np.add_argument("--o")\ndef main(args):\n    args.model.save_pretrained(args.o)\nmain(p.parse_args())',
        ["write <--o>"],
    ),
]


@pytest.mark.parametrize(("text", "wanted"), FILES, ids=[each[0][:40] for each in FILES])
def test_files(text: str, wanted: list[str]) -> None:
    assert sorted(f"{each.how} {each.path.shown}" for each in made(text).files) == sorted(wanted)


def test_places_are_exact_in_texts_with_other_characters() -> None:
    text = 'α = "größe"\nopen(f"/dätä/{α}/x.json", "w")  # ✓\n'
    (use,) = made(text).files
    assert use.path.known == "/dätä/größe/x.json"
    assert use.span.text == 'open(f"/dätä/{α}/x.json", "w")'
    parts = [part for part in use.path.parts if isinstance(part, Literal)]
    assert [part.span.text for part in parts if part.span is not None] == ["/dätä/", "größe", "/x.json"]


def test_credentials() -> None:
    found = made(
        """
        import os, wandb
        from openai import OpenAI
        key = os.environ["JUDGE_API_KEY"]
        token = os.getenv("HF_TOKEN")
        limit = os.environ["MAX_TOKEN"]
        if not os.environ.get("GRADER_TOKEN"):
            raise SystemExit("set GRADER_TOKEN")
        wandb.init(project="x")
        OpenAI(api_key=key)
        """
    ).credentials
    assert [(each.name, each.required) for each in found] == [
        ("JUDGE_API_KEY", True), ("HF_TOKEN", False), ("GRADER_TOKEN", True), ("WANDB_API_KEY", True),
    ]  # fmt: skip


STARTS = """
    import argparse
    import os
    import subprocess
    import sys
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    args = parser.parse_args()
    command = [sys.executable, "-m", "verl.trainer.main_ppo", f"trainer.nnodes={2}", f"a.b={args.model}", "c=it's"]
    command.append("d=1")
    subprocess.run(command, check=True)
    os.system(f"bash train.sh --model {args.model} > log")
"""


def test_programs_become_shell_texts() -> None:
    found = made(STARTS)
    texts = list(shell_texts(found.started, found.source))
    assert [each.text for each in texts] == [
        'python3 -m verl.trainer.main_ppo "trainer.nnodes=2" "a.b=${MODEL}" "c=it\'s" d=1\n',
        "bash train.sh --model ${MODEL} > log\n",
    ]
    at = texts[0].text.index("trainer.nnodes")
    assert texts[0].span(at, at + 14).in_file().text == "trainer.nnodes"


def test_a_python_launcher_is_checked_as_what_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.py").write_text(
        "import subprocess\nsubprocess.run(['python3', '-m', 'verl.trainer.main_ppo', "
        "'trainer.val_only=True', 'trainer.val_before_train=yes please', 'a b=1'])\n"
    )
    settings = Settings(tmp_path, select=("VL701",))
    report = check_project(load(["."], settings).files, settings, tmp_path)
    (found,) = report.findings
    assert found.span is not None
    assert (str(found.span), found.span.in_file().text) == ("run.py:2:125", " ")


FLOWS = [
    ("def compute_score(data_source, solution_str, ground_truth):\n    return eval(solution_str)", "eval certain"),
    ("out = llm.generate(p)\nfor o in out:\n    exec(o.outputs[0].text)", "exec certain"),
    ("r = client.chat.completions.create(m=1)\nimport os\nos.system(r.choices[0].message.content)", "os.system, a shell certain"),
    ("def f(x):\n    y = x.strip()\n    return eval(y)\nf(model.generate(p))", "eval certain"),
    ("def run(completion):\n    exec(completion)", "exec perhaps"),
    ("import json\nfor s in json.load(f):\n    exec(s['response'])", "exec perhaps"),
    ("import subprocess\na = llm.chat(m)\nsubprocess.run(['bash', '-c', a])", "bash -c certain"),
    ("a = llm.chat(m)\nx = [a]\nx.append(1)\neval(x[0])", "eval certain"),
    ("a = llm.generate(p)\neval(len(a))", ""),
    ("import ast\na = llm.generate(p)\nast.literal_eval(a)", ""),
    ("model.eval()\nmodel.generate(p)", ""),
    ("a = llm.generate(p)\nif a == 'x':\n    eval('1 + 1')", ""),
    ("import subprocess\na = llm.generate(p)\nsubprocess.run(['grep', a, 'f'])", ""),
    ("import subprocess\na = llm.generate(p)\nsubprocess.run(['docker', 'run', 'i', 'python', '-c', a])", ""),
    ("import re\na = llm.generate(p)\nif re.fullmatch(r'[0-9+*/ ().-]+', a):\n    eval(a)", ""),
    ("import re\na = llm.generate(p)\nif re.fullmatch(r'[a-z0-9]+', a):\n    eval(a)", "eval certain"),
    ("a = llm.generate(p)\nif set(a) <= set('0123456789+-*/() '):\n    eval(a)", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), FLOWS, ids=[each[0][:50] for each in FLOWS])
def test_model_output_that_is_run(text: str, wanted: str) -> None:
    found = made(text + "\n").flows
    assert ", ".join(f"{each.sink} {'certain' if each.origin.certain else 'perhaps'}" for each in found) == wanted


BAD_TEXTS = {
    "syntax": "def f(:\n",
    "python 2": "print 'x'\nexec code in scope\n",
    "parentheses": "x = " + "(" * 5_000 + "1" + ")" * 5_000,
    "sum": "x = " + "+".join(["1"] * 20_000),
    "attributes": "x = a" + ".b" * 20_000,
    "not": "x = " + "not " * 20_000 + "1",
    "branches": "if a:\n  pass\n" + "elif b:\n  pass\n" * 5_000,
    "blocks": "".join(" " * i + "if a:\n" for i in range(90)) + " " * 90 + "pass\n",
    "nul": "x = '\0'",
    "long": "x = 1\n" * 100_000,
    "surrogate": "x = '\udc80'\nopen(x)\n",
    "empty": "",
    "cookie": "# -*- coding: no-such -*-\nopen('x')\n",
}


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_nothing_stops_the_reader(text: str) -> None:
    found = made(text + "\n# ArgumentParser subprocess eval( llm.generate split( argv\n")
    assert (found.interface, found.started, found.record, found.flows) == (None, (), None, ())
    assert all(each.path.known in ("x", "\udc80") for each in found.files)
    assert found.credentials == ()


def test_names_in_circles_and_many_of_them_end() -> None:
    circle = "a = b\nb = c + a\nc = a\ndef f(x):\n    return f(g(x))\ndef g(x):\n    return f(x)\nopen(f(a))\n"
    many = "".join(f"x{i} = x{i - 1} + x{i - 1} if y else x{i - 1} + 'a'\n" for i in range(1, 60))
    assert all(each.path.holes for each in made(circle).files)
    assert len(made("x0 = 'a'\n" + many + "open(x59)\n").files) <= 16


def test_a_launcher_without_python_tools_needs_no_parser(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/bash\npython3 -m verl.trainer.main_ppo trainer.nnodes=1\nbash next.sh\n")
    code = "import sys; from verlint.cli.main import main; main(['check', 'run.sh']); print({'ast', 'libcst'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


SHOWN = """\
tools/export.py: a Python tool

takes (argparse, others are refused)
  --folder  (required)                                 :9
  --split  (default train, one of train, test)         :10

reads
  /data/raw.json  :13

writes
  <--folder>/<--split>.json  :14

needs
  JUDGE_API_KEY  :12
"""


def test_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from verlint.cli.main import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "export.py").write_text(
        dedent(
            '''
            """Exports \\d data."""

            import argparse
            import json
            import os

            parser = argparse.ArgumentParser()
            parser.add_argument("--folder", required=True)
            parser.add_argument("--split", default="train", choices=["train", "test"])
            args = parser.parse_args()
            key = os.environ["JUDGE_API_KEY"]
            rows = json.load(open("/data/raw.json"))
            with open(os.path.join(args.folder, f"{args.split}.json"), "w") as target:
                json.dump(rows, target)
            '''
        )
    )
    assert main(["show", "tools/export.py"]) == 0
    shown = capsys.readouterr()
    assert [line.split() for line in shown.out.splitlines()] == [line.split() for line in SHOWN.splitlines()]
    assert shown.err == ""
    assert main(["show", "--format", "json", "tools/export.py"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [each["path"] for each in data["files"]] == ["/data/raw.json", "<--folder>/<--split>.json"]
    assert main(["show", "tools/none.py"]) == 2


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_places_by_the_standard_library(ends: str) -> None:
    """It counts bytes of UTF-8, and a lone carriage return ends a line too."""
    source = Source("tool.py", ends.join(['"""Ã¤ 😀"""', 'x = f("😀", trust=True)', "y = g(1)"]))
    module = tree(source.text)
    assert module is not None
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    assert [span_of(source, call).text for call in calls] == ['f("😀", trust=True)', "g(1)"]
    assert span_of(source, calls[0].keywords[0]).text == "trust=True"
    assert tree("x = (") is None
