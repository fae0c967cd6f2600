"""Shell blocks of documents: which lines are commands, and where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from verlint.cli.main import main
from verlint.languages.documents import shell_fences
from verlint.source import Source


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$ bash a.sh", "bash a.sh"),
        ("  $ bash a.sh", "bash a.sh"),
        ("> bash a.sh", "bash a.sh"),
        ("(venv) $ bash a.sh", "bash a.sh"),
        ("(venv) user@host:~/lab$ bash a.sh", "bash a.sh"),
        ("root@node:/workspace# bash a.sh", "bash a.sh"),
        ("[user@node-1 lab]$ bash a.sh", "bash a.sh"),
        ("~/lab $ bash a.sh", "bash a.sh"),
        ("/srv/lab$ bash a.sh", "bash a.sh"),
        ("# only a comment", ""),
        (">>> import verl", ""),
        ("step 10: loss 0.5 $ 3", ""),
        ("  % Total    % Received", ""),
        ("bash a.sh", ""),
    ],
)
def test_prompts_of_a_session(line: str, command: str) -> None:
    document = Source("README.md", f"text\n```console\n{line}\n```\n")
    (fence,) = shell_fences(document)
    assert fence.source.text.rstrip("\n") == command
    if command:
        span = fence.source.span(0, len(command)).in_file()
        assert (span.source, span.text) == (document, command)


def test_lines_that_go_on_in_a_session() -> None:
    text = "```console\n$ bash a.sh \\\n> --x 1 \\\n  --y 2\nwritten\n$ cat a \\\n    > b\n```\n"
    (fence,) = shell_fences(Source("README.md", text))
    assert fence.source.text == "bash a.sh \\\n--x 1 \\\n  --y 2\ncat a \\\n    > b\n"


def test_a_block_of_commands_with_prompts_is_a_session() -> None:
    text = "```bash\nuser@host:~$ bash a.sh\nwritten\n```\n```bash\nbash a.sh\nwritten\n```\n"
    assert [fence.source.text for fence in shell_fences(Source("README.md", text))] == [
        "bash a.sh\n",
        "bash a.sh\nwritten\n",
    ]


def test_show_takes_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text("# Train\n\n```console\n$ export N=8\n$ bash a.sh --n $N <RUN>\nwritten\n```\n")
    assert main(["show", "README.md"]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == ["always", "  README.md:5:3", "    bash a.sh --n 8 <RUN>"]
    assert main(["show", "README.md", "--", "x"]) == 2
    Path("README.md").write_text("# Nothing\n")
    assert main(["show", "README.md"]) == 2


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ("$ cat > f <<EOF\na $X\n# b\nEOF\ndone\n$ bash f\n", "cat > f <<EOF\na $X\n# b\nEOF\nbash f\n"),
        ("$ cat > f <<'EOF'\n> a\n>\n> EOF\n$ bash f\n", "cat > f <<'EOF'\na\n\nEOF\nbash f\n"),
        ("$ cat <<-A <<B\n\tone\n\tA\n$ two\nB\n$ bash f\n", "cat <<-A <<B\n\tone\n\tA\n$ two\nB\nbash f\n"),
        ("$ cat <<EOF\n> a\nEOF\n$ bash f\n", "cat <<EOF\n> a\nEOF\nbash f\n"),
        ("$ echo $((1<<N))\n2\n$ cat <<< EOF\nEOF\n$ bash f\n", "echo $((1<<N))\ncat <<< EOF\nbash f\n"),
        ("$ cat <<EOF \\\n>   > f\na\nEOF\n$ bash f\n", "cat <<EOF \\\n  > f\na\nEOF\nbash f\n"),
    ],
    ids=["plain", "with a prompt", "two", "a prompt in the text only", "none", "a continued line"],
)
def test_here_documents_of_sessions(lines: str, read: str) -> None:
    document = Source("README.md", f"text\n```console\n{lines}```\n")
    (fence,) = shell_fences(document)
    assert fence.source.text == read
    for at in range(len(read)):
        assert document.text[fence.source.outer(at)] == read[at]


RST = """\
Guide
=====

Text::

    bash not-shell.sh

1. Train:

   .. code-block:: bash
      :linenos:
      :caption: one

      bash a.sh \\
          --x 1

      bash b.sh

   Said.

.. code:: console

   $ bash c.sh
   written

.. code-block:: python

   run("bash not-shell.sh")

.. highlight:: sh

::

   bash d.sh

.. code::
   bash e.sh

.. code-block:: bash

    usage: bash f.sh [-h]
"""


def test_blocks_of_restructured_text() -> None:
    document = Source("guide.rst", RST)
    fences = shell_fences(document)
    assert [fence.source.text for fence in fences] == [
        "bash a.sh \\\n    --x 1\n\nbash b.sh\n",
        "bash c.sh\n",
        "bash d.sh\n",
        "bash e.sh\n",
    ]
    for fence in fences:
        read = fence.source.text
        assert "".join(RST[fence.source.outer(at)] for at in range(len(read))) == read


@pytest.mark.parametrize(
    ("written", "covered"),
    [
        (".. verlint: ignore[VL702] why\n\n.. code:: bash\n\n   LAUNCH\n   LAUNCH\n\nEnd\n", 2),
        (".. code:: bash\n\n   # verlint: ignore[VL702] why\n   LAUNCH\n   LAUNCH\n", 1),
        (".. code:: bash\n\n   LAUNCH  # verlint: ignore[VL702] why\n   LAUNCH\n", 1),
        (".. code:: bash\n\n   LAUNCH\n   LAUNCH\n\n.. verlint: ignore[VL702] why\n\nEnd\n", 0),
        (".. verlint: file-ignore[VL702] why\n\nText\n\n.. code:: bash\n\n   LAUNCH\n   LAUNCH\n", 2),
    ],
    ids=["above a block", "in a block", "behind a command", "behind a block", "file"],
)
def test_comments_in_restructured_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], written: str, covered: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("guide.rst").write_text(written.replace("LAUNCH", "python3 -m verl.trainer.main_ppo trainer.totl_epochs=3"))
    main(["check", "guide.rst", "--select", "VL702", "--output-format", "concise"])
    out = capsys.readouterr().out
    assert out.count(": VL702") == 2 - covered
    main(["check", "guide.rst", "--select", "VL702", "--add-ignore", "known"])
    assert main(["check", "guide.rst", "--select", "VL702"]) == 0
