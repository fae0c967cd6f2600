"""The language server: texts come in, answers go out. Runs on standard input and output."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

from verlint import __version__
from verlint.editor import answers
from verlint.editor.workspace import OpenFile, open_file

PAUSE = 0.1
"""Seconds without another change after which what is typed is looked at."""
PAUSE_OF_OTHERS = 0.5
"""The same for files that change beside the editor: many may do so at once."""
WATCHED = "**/*.{sh,bash,sbatch,slurm,py,yaml,yml,json,toml,md,txt,cfg,lock}"
"""Files that may count for what is open, with each that a launcher reads; not what a run writes all the time."""


class Server(LanguageServer):
    """Keeps each open text as it was last analysed."""

    def __init__(self) -> None:
        # whole texts: pygls takes form feeds and U+2028 for line ends when it puts pieces together
        super().__init__("verlint", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self._files: dict[str, tuple[str, OpenFile | None]] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._started_in = os.getcwd()

    def file(self, uri: str) -> OpenFile | None:
        """The open file of an address, with the text that the editor has now. Its folder of the workspace is the
        working directory from here on, as in a call of `verlint check` there. None for what is no file."""
        path = uris.to_fs_path(uri)
        if path is None:
            return None
        self._go_to_folder(path)
        text = self.workspace.get_text_document(uri).source
        known = self._files.get(uri)
        if known is None or known[0] != text:
            known = self._files[uri] = (text, open_file(Path(path), text))
        return known[1]

    def _go_to_folder(self, path: str) -> None:
        named = [uris.to_fs_path(folder.uri) for folder in self.workspace.folders.values()]
        roots = [root for root in (*named, self.workspace.root_path) if root and Path(path).is_relative_to(root)]
        for root in (*sorted(roots, key=len, reverse=True), self.workspace.root_path or "", self._started_in):
            if os.path.isdir(root):
                os.chdir(root)
                return

    def forget(self, uri: str) -> None:
        """Drop what is known of a file that was closed."""
        self._files.pop(uri, None)
        self._no_longer_wait(uri)

    def _no_longer_wait(self, uri: str) -> None:
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()

    def publish(self, uri: str) -> None:
        """Send the diagnostics of a file."""
        self._no_longer_wait(uri)
        file = self.file(uri)
        found = [] if file is None else answers.diagnostics(file)
        version = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def publish_soon(self, uri: str) -> None:
        """Send the diagnostics of a file when it has not changed for a while."""
        self._no_longer_wait(uri)
        self._waiting[uri] = asyncio.get_running_loop().call_later(PAUSE, self.publish, uri)

    def publish_all_soon(self) -> None:
        """As `publish_all`, when nothing has changed for a while."""
        self._no_longer_wait("")
        self._waiting[""] = asyncio.get_running_loop().call_later(PAUSE_OF_OTHERS, self.publish_all)

    def publish_all(self) -> None:
        """Send the diagnostics of all open files anew: other files have changed, and count for these."""
        self._no_longer_wait("")
        self._files.clear()
        for uri in list(self.workspace.text_documents):
            self.publish(uri)


def make_server() -> Server:
    """A server with everything it answers."""
    server = Server()

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            every = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(WATCHED)])
            watched = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, every)
            server.client_register_capability(lsp.RegistrationParams([watched]), lambda _: None)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def others_changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.publish_all_soon()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        server.publish_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.publish_soon(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.publish_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        file = server.file(params.text_document.uri)
        return None if file is None else answers.hover(file, params.position)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        file = server.file(params.text_document.uri)
        return [] if file is None else answers.code_actions(file, params.range)

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        file = server.file(params.text_document.uri)
        return [] if file is None else answers.definitions(file, params.position)

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        file = server.file(params.text_document.uri)
        return lsp.CompletionList(False, [] if file is None else answers.completions(file, params.position))

    return server
