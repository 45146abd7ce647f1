// The extension's own Python environments, into which it installs framedex if the user has none.
//
// Each environment is a folder named by its start time, and counts only once it is complete: an interrupted installation
// or a failed upgrade leaves the previous environment in use.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";

const MARKER_FILE = "framedex.json";
// After this time, an incomplete installation of another window counts as abandoned.
const ABANDONED_AFTER_MS = 60 * 60_000;

/** A complete environment; `requirement` is the requirement passed to pip. */
export interface CompleteEnvironment {
  readonly folder: string;
  readonly requirement: string;
}

export class OwnEnvironments {
  constructor(private readonly root: string, private readonly now: () => number = Date.now) {}

  /** The newest complete environment. */
  async current(): Promise<CompleteEnvironment | undefined> {
    for (const begun of (await this.all()).reverse()) {
      const folder = path.join(this.root, String(begun));
      const requirement = await readRequirement(folder);
      if (requirement !== undefined) {
        return { folder, requirement };
      }
    }
    return undefined;
  }

  /** Creates a new, empty folder for an environment. */
  async begin(): Promise<string> {
    const latest = (await this.all()).at(-1) ?? 0;
    const folder = path.join(this.root, String(Math.max(this.now(), latest + 1)));
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** Marks an environment as complete. */
  async complete(folder: string, requirement: string): Promise<void> {
    await writeFile(path.join(folder, MARKER_FILE), JSON.stringify({ requirement }));
  }

  async remove(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true });
  }

  async removeAll(): Promise<void> {
    await this.remove(this.root);
  }

  /** Removes replaced and incomplete environments. */
  async tidy(): Promise<void> {
    const current = await this.current();
    for (const begun of await this.all()) {
      const folder = path.join(this.root, String(begun));
      const isRemovable = (await readRequirement(folder)) !== undefined || this.now() - begun > ABANDONED_AFTER_MS;
      if (isRemovable && folder !== current?.folder) {
        await this.remove(folder);
      }
    }
  }

  /** The start times of all environments, earliest first. */
  private async all(): Promise<number[]> {
    try {
      return (await readdir(this.root)).filter((name) => /^\d+$/.test(name)).map(Number).sort((one, other) => one - other);
    } catch {
      return []; // no environment exists yet
    }
  }
}

async function readRequirement(folder: string): Promise<string | undefined> {
  try {
    const { requirement } = JSON.parse(await readFile(path.join(folder, MARKER_FILE), "utf8")) as { requirement?: unknown };
    return typeof requirement === "string" ? requirement : undefined;
  } catch {
    return undefined; // the installation was interrupted
  }
}
