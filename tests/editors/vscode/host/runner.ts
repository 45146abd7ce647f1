// Runs the tests of a file one after the other inside the extension host, and writes beside it how each ended.
//
// A test file ends with `export { run } from "./runner"`: VS Code calls that. It is bundled with this file into one.

import { writeFileSync } from "node:fs";
import * as vscode from "vscode";

const PATIENCE = 180_000; // milliseconds, on a busy machine
const PAUSE = 20; // milliseconds between two questions, for what is waited for needs the processor too

type Body = () => Promise<void>;
const tests = new Map<string, Body>();

export function test(name: string, body: Body): void {
  tests.set(name, body);
}

export async function run(): Promise<void> {
  const outcomes: Record<string, string | null> = {};
  for (const [name, body] of tests) {
    outcomes[name] = await outcome(body);
    if (outcomes[name] !== null) {
      await vscode.commands.executeCommand("notifications.showList"); // the failure's report reads it
    }
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    writeFileSync(`${__filename}.json`, JSON.stringify(outcomes));
  }
}

async function outcome(body: Body): Promise<string | null> {
  try {
    await Promise.race([body(), tooLate()]);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function tooLate(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, PATIENCE));
  throw new Error(`has not ended after ${PATIENCE / 1000} s`);
}

/** Asks until there is an answer: `undefined` means not yet. For what VS Code tells nobody by an event. */
export async function until<T>(what: string, ask: () => T | undefined | Thenable<T | undefined>): Promise<T> {
  const end = Date.now() + PATIENCE / 2;
  while (Date.now() < end) {
    const answer = await ask();
    if (answer !== undefined) {
      return answer;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  throw new Error(`waited in vain for ${what}`);
}
