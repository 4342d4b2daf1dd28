// A setting and the folders of a workspace in, the command line of the server out.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const NAME = "gnarl-lsp";
const PLACES = process.platform === "win32" ? [".venv/Scripts", "venv/Scripts"] : [".venv/bin", "venv/bin"];

/** What the user set, else the one of a folder's own environment, else whatever the path has. */
function serverCommand(setting, folders) {
  if (setting) return { command: setting, args: ["--stdio"] };
  const file = process.platform === "win32" ? `${NAME}.exe` : NAME;
  for (const folder of folders) {
    for (const place of PLACES) {
      const own = path.join(folder, place, file);
      if (fs.existsSync(own)) return { command: own, args: ["--stdio"] };
    }
  }
  return { command: NAME, args: ["--stdio"] };
}

function missingText(command) {
  return (
    `${command} could not be started. It comes with pip install 'gnarl-dsl[lsp]'; ` +
    "if it is installed, say where in the setting gnarl.server.path."
  );
}

module.exports = { serverCommand, missingText };
