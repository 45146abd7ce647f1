// The requirement for pip: the framedex packed into the extension, with its dependencies from the user's package index.

import { readdir } from "node:fs/promises";
import * as vscode from "vscode";

const NAME = "framedex";

export interface PipRequirement {
  readonly requirement: string;
  /** The arguments of `pip install`. */
  readonly arguments: readonly string[];
}

/** The requirement in the setting, else framedex in the version of the wheel in a folder, else the newest version. */
export async function findRequirement(wheels: string): Promise<PipRequirement> {
  const setting = vscode.workspace.getConfiguration("framedex").get("server.package", NAME).trim() || NAME;
  const version = setting === NAME ? await findWheelVersion(wheels) : undefined;
  const requirement = version === undefined ? setting : `${NAME}==${version}`;
  // The wheel in the folder is for every platform; pip prefers a wheel for this platform if the package index has one.
  const found = version === undefined ? [] : ["--find-links", wheels];
  return { requirement, arguments: [...found, requirement] };
}

async function findWheelVersion(wheels: string): Promise<string | undefined> {
  try {
    return (await readdir(wheels)).map((name) => /^framedex-([^-]+)-.*\.whl$/.exec(name)?.[1]).find((version) => version !== undefined);
  } catch {
    return undefined; // this build of the extension contains no wheel
  }
}
