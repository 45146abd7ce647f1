// The extension's own Python environments, into which it installs framedex if the user has none.
//
// Each environment is a folder named by its start time, and counts only once it is complete: an interrupted installation
// or a failed upgrade leaves the previous environment in use.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";

const MARK = "framedex.json";
// An installation in another window may still be in progress; after this time it is not.
const LEFT_BEHIND = 60 * 60_000;

/** A complete environment; `requirement` is the requirement passed to pip. */
export interface Complete {
  readonly folder: string;
  readonly requirement: string;
}

export class OwnEnvironments {
  constructor(private readonly root: string, private readonly now: () => number = Date.now) {}

  /** The newest complete environment. */
  async current(): Promise<Complete | undefined> {
    for (const begun of (await this.all()).reverse()) {
      const folder = path.join(this.root, String(begun));
      const requirement = await requirementIn(folder);
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
    await writeFile(path.join(folder, MARK), JSON.stringify({ requirement }));
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
      const isOver = (await requirementIn(folder)) !== undefined || this.now() - begun > LEFT_BEHIND;
      if (isOver && folder !== current?.folder) {
        await this.remove(folder);
      }
    }
  }

  /** The start times of all environments, earliest first. */
  private async all(): Promise<number[]> {
    try {
      return (await readdir(this.root)).filter((name) => /^\d+$/.test(name)).map(Number).sort((one, other) => one - other);
    } catch {
      return []; // there was none yet
    }
  }
}

async function requirementIn(folder: string): Promise<string | undefined> {
  try {
    const { requirement } = JSON.parse(await readFile(path.join(folder, MARK), "utf8")) as { requirement?: unknown };
    return typeof requirement === "string" ? requirement : undefined;
  } catch {
    return undefined; // it was interrupted
  }
}
