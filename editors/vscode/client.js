// What VS Code asks for in, a language client that runs gnarl-lsp out.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const { serverCommand, missingText } = require("./command");

let client;

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("gnarl.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("gnarl.server")) restart();
    }),
  );
  await start();
}

async function start() {
  const settings = vscode.workspace.getConfiguration("gnarl.server");
  const folders = (vscode.workspace.workspaceFolders || []).map((folder) => folder.uri.fsPath);
  // A program that a workspace brings is run only where its owner is trusted.
  const run = serverCommand(settings.get("path"), vscode.workspace.isTrusted ? folders : []);
  const options = { command: run.command, args: run.args, transport: TransportKind.stdio };
  client = new LanguageClient(
    "gnarl",
    "GNARL",
    { run: options, debug: options },
    { documentSelector: [{ language: "gnarl" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const choice = await vscode.window.showErrorMessage(missingText(run.command), "Settings");
    if (choice === "Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "gnarl.server.path");
    }
  }
}

async function restart() {
  await deactivate();
  await start();
}

async function deactivate() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

module.exports = { activate, deactivate };
