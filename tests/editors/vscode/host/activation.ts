// Not a test: times the activation of the extension and of an empty one, for `python -m benchmarks vscode-activation`.

import { writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import * as vscode from "vscode";

import { running } from "./framedex";

/** Writes milliseconds beside this file. Neither extension may have been activated by the window's folder. */
export async function run(): Promise<void> {
  const empty = await activation("framedex.tests");
  const begin = performance.now();
  const framedex = await activation("framedex.framedex");
  await running();
  writeFileSync(`${__filename}.json`, JSON.stringify({ empty, framedex, server: performance.now() - begin }));
}

async function activation(name: string): Promise<number> {
  const extension = vscode.extensions.getExtension(name);
  if (extension === undefined || extension.isActive) {
    throw new Error(`${name} is missing, or already active`);
  }
  const begin = performance.now();
  await extension.activate();
  return performance.now() - begin;
}
