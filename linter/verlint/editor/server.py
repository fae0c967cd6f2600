"""The language server: texts come in, answers go out. Runs on standard input and output."""

from __future__ import annotations

import os
from pathlib import Path

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

from verlint import __version__
from verlint.editor import answers
from verlint.editor.workspace import OpenFile, open_file


class Server(LanguageServer):
    """Keeps each open text as it was last analysed."""

    def __init__(self) -> None:
        super().__init__("verlint", __version__)
        self._files: dict[str, tuple[str, OpenFile | None]] = {}

    def file(self, uri: str) -> OpenFile | None:
        """The open file of an address, with the text that the editor has now."""
        text = self.workspace.get_text_document(uri).source
        known = self._files.get(uri)
        if known is None or known[0] != text:
            path = uris.to_fs_path(uri)
            known = self._files[uri] = (text, None if path is None else open_file(Path(path), text))
        return known[1]

    def forget(self, uri: str) -> None:
        """Drop what is known of a file: it was closed, or other files may have changed."""
        self._files.pop(uri, None)

    def publish(self, uri: str) -> None:
        """Send the diagnostics of a file."""
        file = self.file(uri)
        found = [] if file is None else answers.diagnostics(file)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))


def make_server() -> Server:
    """A server with everything it answers."""
    server = Server()

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        root = server.workspace.root_path
        if root and os.path.isdir(root):
            os.chdir(root)  # paths in messages are relative to the working directory

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.forget(params.text_document.uri)
        server.publish(params.text_document.uri)

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
