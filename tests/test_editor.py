"""The language server, asked by a real client over standard input and output."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from fixture_cases import ROOT
from verlint.editor.positions import to_offset, to_position
from verlint.source import Source

LAUNCHER = """\
#!/bin/bash
# 🚀 on policy
set -e
NAME="${RUN_NAME:-opo}-7b"
export HF_HOME=/tmp/huggingface
python3 -m verl.trainer.main_ppo \\
    trainer.experiment_name="🚀${NAME}" \\
    data.train_batch_size=256 \\
    trainer.
"""


def at(text: str, marked: str, *, end: bool = False) -> lsp.Position:
    source = Source("", text)
    offset = text.index(marked) + (len(marked) if end else 0)
    return to_position(source, offset)


class Editor:
    """A client with one folder, and what the server has told it."""

    def __init__(self, root: Path, *folders: str) -> None:
        self.root = root
        self.folders = folders
        self.client = LanguageClient("test", "1")
        self.told: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def diagnostics(params: lsp.PublishDiagnosticsParams) -> None:
            self.told.put_nowait(params)

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    async def start(self) -> lsp.InitializeResult:
        await self.client.start_io(sys.executable, "-m", "verlint", "lsp", "--stdio")
        capabilities = lsp.ClientCapabilities()
        result = await self.client.initialize_async(
            lsp.InitializeParams(
                capabilities=capabilities,
                root_uri=None if self.folders else self.root.as_uri(),
                workspace_folders=[lsp.WorkspaceFolder(self.uri(name), name) for name in self.folders],
            )
        )
        self.client.initialized(lsp.InitializedParams())
        return result

    async def open(self, name: str, language: str = "shellscript") -> list[lsp.Diagnostic]:
        text = (self.root / name).read_text("utf-8")
        item = lsp.TextDocumentItem(self.uri(name), language, 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    def type(self, name: str, text: str, version: int) -> None:
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(version, self.uri(name)),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def change(self, name: str, text: str, version: int) -> list[lsp.Diagnostic]:
        self.type(name, text, version)
        return await self.diagnostics()

    async def save(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, "utf-8")
        self.client.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(self.uri(name))))

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        return list((await asyncio.wait_for(self.told.get(), 60)).diagnostics)

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def session(
    root: Path, steps: Callable[[Editor], Awaitable[None]], monkeypatch: pytest.MonkeyPatch, *folders: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'linter'}:{ROOT / 'rules'}")

    async def run() -> None:
        editor = Editor(root, *folders)
        await editor.start()
        try:
            await steps(editor)
        finally:
            await editor.stop()

    asyncio.run(run())


def test_a_launcher_is_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.sh").write_text(LAUNCHER, "utf-8")

    async def steps(editor: Editor) -> None:
        document = lsp.TextDocumentIdentifier(editor.uri("run.sh"))
        found = {each.code: each for each in await editor.open("run.sh")}
        path = found["VL101"]
        assert path.severity is lsp.DiagnosticSeverity.Warning
        assert path.range == lsp.Range(at(LAUNCHER, "/tmp/hugging"), at(LAUNCHER, "/tmp/huggingface", end=True))
        assert path.message.startswith("`/tmp` is a folder local to each node")

        hover = await editor.client.text_document_hover_async(lsp.HoverParams(document, at(LAUNCHER, "${NAME}")))
        assert hover is not None
        assert isinstance(hover.contents, lsp.MarkupContent)
        assert "trainer.experiment_name=🚀opo-7b" in hover.contents.value
        assert "`run.sh:4:" in hover.contents.value
        assert "`trainer.experiment_name`: gsm8k by default in VeRL" in hover.contents.value

        places = await editor.client.text_document_definition_async(
            lsp.DefinitionParams(document, at(LAUNCHER, "${NAME}"))
        )
        assert isinstance(places, list)
        assert {place.range.start.line for place in places if isinstance(place, lsp.Location)} == {3}

        answer = await editor.client.text_document_completion_async(
            lsp.CompletionParams(document, lsp.Position(8, len("    trainer.")))
        )
        assert isinstance(answer, lsp.CompletionList)
        details = {item.label: item.detail for item in answer.items}
        assert details["trainer.nnodes"] == "default 1"
        assert "trainer.experiment_name" not in details
        assert all(label.startswith("trainer.") for label in details)

        actions = await editor.client.text_document_code_action_async(
            lsp.CodeActionParams(document, path.range, lsp.CodeActionContext([path]))
        )
        assert actions is not None
        action = next(each for each in actions if each.title.startswith("VL101"))
        assert isinstance(action, lsp.CodeAction)
        assert action.title == "VL101: let the environment replace /tmp (may change the meaning)"
        assert action.edit is not None
        assert action.edit.changes is not None
        [edit] = action.edit.changes[editor.uri("run.sh")]
        mended = applied(LAUNCHER, edit)
        assert mended.splitlines()[4].startswith("export HF_HOME=${HF_HOME:-/tmp")
        assert "VL101" not in {each.code for each in await editor.change("run.sh", mended, 2)}
        broken = mended.replace("=256 \\", "=256 \\ ")
        assert "VL901" in {each.code for each in await editor.change("run.sh", broken, 3)}

    session(tmp_path, steps, monkeypatch)


def applied(text: str, edit: lsp.TextEdit) -> str:
    source = Source("", text)
    start, end = to_offset(source, edit.range.start), to_offset(source, edit.range.end)
    return text[:start] + edit.new_text + text[end:]


def test_a_spec_is_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gad"
    shutil.copytree(ROOT / "fixtures" / "experiments" / "gad" / "clean", folder)
    spec = (folder / "gad.exp.yaml").read_text("utf-8")

    async def steps(editor: Editor) -> None:
        document = lsp.TextDocumentIdentifier(editor.uri("gad.exp.yaml"))
        assert [each.code for each in await editor.open("gad.exp.yaml", "yaml")] == []
        branch = re.search(r"^ +branch: (warmup)$", spec, re.MULTILINE)
        assert branch is not None
        wrong = spec[: branch.start(1)] + "gad" + spec[branch.end(1) :]
        found = await editor.change("gad.exp.yaml", wrong, 2)
        assert [each.code for each in found] == ["VL301"]
        assert found[0].range.start.line == spec[: branch.start()].count("\n")

        typed = wrong.rstrip("\n") + "\n  extra:\n    br"
        await editor.change("gad.exp.yaml", typed, 3)
        line = typed.count("\n")
        answer = await editor.client.text_document_completion_async(
            lsp.CompletionParams(document, lsp.Position(line, 6))
        )
        assert isinstance(answer, lsp.CompletionList)
        assert [item.label for item in answer.items] == ["branch"]

    session(folder, steps, monkeypatch)


CALLS = (
    "#!/bin/bash\nset -e\nsource common.sh\npython3 -m verl.trainer.main_ppo trainer.nnodes=$NODES trainer.nodes=1\n"
)


def test_other_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each folder of a workspace is a project of its own; a file that is saved counts for the others that are open."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.sh").write_text(CALLS, "utf-8")
        (tmp_path / name / "common.sh").write_text("export NODES=1\n", "utf-8")
    (tmp_path / "two/verlint.toml").write_text('ignore = ["VL702"]\n', "utf-8")
    (tmp_path / "two/requirements.txt").write_text("verl==0.5.0\n", "utf-8")

    async def steps(editor: Editor) -> None:
        async def all_three() -> dict[str, list[str]]:
            told = [await asyncio.wait_for(editor.told.get(), 60) for _ in range(3)]
            return {params.uri: [str(each.code) for each in params.diagnostics] for params in told}

        assert [each.code for each in await editor.open("one/run.sh")] == ["VL702"]
        assert await editor.open("two/run.sh") == []
        assert await editor.open("two/common.sh", "shellscript") == []
        hover = await editor.client.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(editor.uri("two/run.sh")), at(CALLS, "trainer.nnodes"))
        )
        assert hover is not None
        assert isinstance(hover.contents, lsp.MarkupContent)
        assert "- `common.sh:1:" in hover.contents.value
        assert "by default in VeRL 0.5.0" in hover.contents.value

        await editor.save("two/common.sh", "export NODES=x\n")
        assert (await all_three())[editor.uri("two/run.sh")] == ["VL708"]
        await editor.save("two/common.sh", "export NODES=1\n")
        assert (await all_three())[editor.uri("two/run.sh")] == []

        (tmp_path / "two/verlint.toml").write_text("", "utf-8")
        changed = lsp.FileEvent(editor.uri("two/verlint.toml"), lsp.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([changed]))
        assert (await all_three())[editor.uri("two/run.sh")] == ["VL702"]

    session(tmp_path, steps, monkeypatch, "one", "two")


def test_fast_typing_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.sh").write_text(LAUNCHER, "utf-8")

    async def steps(editor: Editor) -> None:
        await editor.open("run.sh")
        for version in range(2, 20):
            text = "#\x0c\u2028\n" * version + LAUNCHER
            editor.type("run.sh", text, version)
        told = await asyncio.wait_for(editor.told.get(), 60)
        while told.version != version:
            told = await asyncio.wait_for(editor.told.get(), 60)
        [path] = [each for each in told.diagnostics if each.code == "VL101"]
        assert path.range.start == at(text, "/tmp/hugging")

    session(tmp_path, steps, monkeypatch)


def test_without_the_editor_part_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from verlint.cli.main import main

    monkeypatch.setitem(sys.modules, "verlint.editor.server", None)
    assert main(["lsp"]) == 2
    assert capsys.readouterr().err.rstrip().endswith("needs `pip install 'verlint[lsp]'`")


@pytest.mark.parametrize("offset", range(9))
def test_places_lead_back(offset: int) -> None:
    source = Source("", "a🚀b\n模x\n\n")
    assert to_offset(source, to_position(source, offset)) == offset
