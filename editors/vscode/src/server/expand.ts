// Paths in settings: `~`, `${workspaceFolder}` and `${env:NAME}` in them.

import { homedir } from "node:os";
import * as path from "node:path";

/** Expands a path in a setting; undefined if it refers to a missing folder or variable. */
export function expand(setting: string, folder: string | undefined): string | undefined {
  let known = true;
  const expanded = setting
    .trim()
    .replace(/^~(?=$|[/\\])/, homedir())
    .replace(/\$\{(workspaceFolder|env:([^}]+))\}/g, (_, name: string, variable: string | undefined) => {
      const value = name === "workspaceFolder" ? folder : process.env[variable ?? ""];
      known &&= value !== undefined;
      return value ?? "";
    });
  return known && expanded !== "" ? path.normalize(expanded) : undefined;
}
