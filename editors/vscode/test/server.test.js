// The messages that VS Code's client sends, sent to the real gnarl-lsp.
"use strict";

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { test, before, after } = require("node:test");
const { pathToFileURL } = require("node:url");
const {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} = require("vscode-languageserver-protocol/node");
const protocol = require("vscode-languageserver-protocol");
const { serverCommand, missingText } = require("../command");

const SPEC = fs.readFileSync(path.join(__dirname, "..", "..", "..", "specs", "mvc.gnarl"), "utf8");
const WRONG = SPEC.replace("allow not in_cover[v]", "allow not in_covr[v]");
const uri = pathToFileURL(path.join(os.tmpdir(), "mvc_of_a_test.gnarl")).href;
const textDocument = { uri };
const published = [];
let server, connection, capabilities;

/** Where something stands in the text. */
function at(text, what) {
  const lines = text.slice(0, text.indexOf(what)).split("\n");
  return { line: lines.length - 1, character: lines[lines.length - 1].length };
}

async function diagnosticsOf(version) {
  for (;;) {
    const found = published.find((told) => told.uri === uri && told.version === version);
    if (found) return found.diagnostics;
    await new Promise((go) => setTimeout(go, 20));
  }
}

before(async () => {
  const run = serverCommand(process.env.GNARL_LSP, []);
  server = spawn(run.command, run.args, { stdio: ["pipe", "pipe", "inherit"] });
  connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  connection.onNotification(protocol.PublishDiagnosticsNotification.type, (told) =>
    published.push(told),
  );
  connection.listen();
  const answer = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: { textDocument: { rename: { prepareSupport: true } } },
  });
  capabilities = answer.capabilities;
  await connection.sendNotification(protocol.InitializedNotification.type, {});
});

after(async () => {
  await connection.sendRequest(protocol.ShutdownRequest.type);
  const gone = new Promise((go) => server.on("exit", go));
  await connection.sendNotification(protocol.ExitNotification.type);
  assert.equal(await gone, 0);
  connection.dispose();
});

test("it offers what the client asks for", () => {
  for (const name of [
    "codeActionProvider", "completionProvider", "definitionProvider", "documentFormattingProvider",
    "documentSymbolProvider", "foldingRangeProvider", "hoverProvider", "inlayHintProvider",
    "referencesProvider", "renameProvider", "semanticTokensProvider",
  ]) assert.ok(capabilities[name], name);
});

test("a mistake is shown and mended", async () => {
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "gnarl", version: 1, text: WRONG },
  });
  const [finding, ...others] = await diagnosticsOf(1);
  assert.equal(finding.code, "GN201");
  assert.deepEqual(others, []);
  const [action] = await connection.sendRequest(protocol.CodeActionRequest.type, {
    textDocument, range: finding.range, context: { diagnostics: [finding] },
  });
  assert.equal(action.title, "Replace `in_covr` with `in_cover`");
  assert.equal(action.edit.changes[uri][0].newText, "in_cover");
  await connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 }, contentChanges: [{ text: SPEC }],
  });
  assert.deepEqual(await diagnosticsOf(2), []);
});

test("names, hints and folds", async () => {
  const position = at(SPEC, "in_cover ");
  const used = await connection.sendRequest(protocol.ReferencesRequest.type, {
    textDocument, position, context: { includeDeclaration: true },
  });
  assert.equal(used.length, SPEC.split("in_cover").length - 1);
  const renamed = await connection.sendRequest(protocol.RenameRequest.type, {
    textDocument, position, newName: "chosen",
  });
  assert.equal(renamed.changes[uri].length, used.length);
  await assert.rejects(
    connection.sendRequest(protocol.RenameRequest.type, { textDocument, position, newName: "w" }),
    /already declared/,
  );
  const hover = await connection.sendRequest(protocol.HoverRequest.type, { textDocument, position });
  assert.match(hover.contents.value, /`state`: true or false for each node/);
  const folds = await connection.sendRequest(protocol.FoldingRangeRequest.type, { textDocument });
  assert.ok(folds.length >= 4);
  const tokens = await connection.sendRequest(protocol.SemanticTokensRequest.type, { textDocument });
  assert.equal(tokens.data.length % 5, 0);
  assert.ok(tokens.data.length > 100);
});

test("the server is looked for where it is likely", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gnarl-"));
  assert.deepEqual(serverCommand("/my/gnarl-lsp", [folder]).command, "/my/gnarl-lsp");
  assert.equal(serverCommand("", [folder]).command, "gnarl-lsp");
  const windows = process.platform === "win32";
  const own = path.join(folder, ".venv", windows ? "Scripts" : "bin", windows ? "gnarl-lsp.exe" : "gnarl-lsp");
  fs.mkdirSync(path.dirname(own), { recursive: true });
  fs.writeFileSync(own, "");
  assert.equal(serverCommand("", [folder]).command, own);
  assert.match(missingText("gnarl-lsp"), /pip install 'gnarl-dsl\[lsp\]'/);
});
