// The extension under test: what its `activate` answers with is what its own features are given.

import { readdirSync, readFileSync } from "node:fs";
import * as vscode from "vscode";

import type { Framedex } from "../../../../editors/vscode/src/framedex";
import { until } from "./runner";

/** The extension once its server runs. */
export async function running(): Promise<Framedex> {
  const framedex = await activated();
  await until("the server", () => framedex.server.state === "running" || undefined);
  return framedex;
}

/** The extension once it is active; its server may not run. */
export async function activated(): Promise<Framedex> {
  const extension = vscode.extensions.getExtension<Framedex>("framedex.framedex");
  if (extension === undefined) {
    throw new Error("the extension is not installed");
  }
  return extension.activate();
}

/** The server's process: a child of the extension host. */
export function serverProcess(): number | undefined {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((process_id) => {
      try {
        const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${process_id}/stat`, "utf8"))?.[1]);
        const command = readFileSync(`/proc/${process_id}/cmdline`, "utf8").split("\0");
        return parent === process.pid && command.includes("serve");
      } catch {
        return false; // it has ended meanwhile
      }
    });
}

/** What the active editor shows: the name of its file, and the cursor's line, from 1. */
export function shown(): string {
  const editor = vscode.window.activeTextEditor;
  return editor === undefined ? "" : `${editor.document.uri.path.split("/").at(-1)}:${editor.selection.active.line + 1}`;
}

/** Waits until the active editor shows such a place: VS Code may tell of it after the command has ended. */
export async function untilShown(place: RegExp): Promise<void> {
  await until(`${place} in the editor`, () => place.test(shown()) || undefined);
}
