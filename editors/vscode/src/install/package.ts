// What pip is asked for: the framedex that is packed into the extension, with what it depends on from the user's index.

import { readdir } from "node:fs/promises";
import * as vscode from "vscode";

const NAME = "framedex";

export interface Wanted {
  readonly requirement: string;
  /** What comes behind `pip install`. */
  readonly arguments: readonly string[];
}

/** What the setting names, else framedex in the version of the wheel in a folder, else the newest. */
export async function wanted(wheels: string): Promise<Wanted> {
  const setting = vscode.workspace.getConfiguration("framedex").get("server.package", NAME).trim() || NAME;
  const version = setting === NAME ? await versionIn(wheels) : undefined;
  const requirement = version === undefined ? setting : `${NAME}==${version}`;
  // The wheel in the folder is for every platform: where the index has one for this, pip prefers that.
  const found = version === undefined ? [] : ["--find-links", wheels];
  return { requirement, arguments: [...found, requirement] };
}

async function versionIn(wheels: string): Promise<string | undefined> {
  try {
    return (await readdir(wheels)).map((name) => /^framedex-([^-]+)-.*\.whl$/.exec(name)?.[1]).find((version) => version !== undefined);
  } catch {
    return undefined; // none was packed
  }
}
