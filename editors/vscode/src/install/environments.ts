// The extension's own Python environments, into which it installs framedex where the user has none.
//
// Each is a folder of its own, named for when it was begun, and counts once all of it is there: an installation that was
// interrupted, or an upgrade that failed, leaves what was in use before.

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";

const MARK = "framedex.json";
// An installation of another window may still be under way; after as long it is not.
const LEFT_BEHIND = 60 * 60_000;

/** One that is complete: `requirement` is what pip was asked for. */
export interface Complete {
  readonly folder: string;
  readonly requirement: string;
}

export class OwnEnvironments {
  constructor(private readonly root: string, private readonly now: () => number = Date.now) {}

  /** The newest one that is complete. */
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

  /** A new, empty folder for one. */
  async begin(): Promise<string> {
    const latest = (await this.all()).at(-1) ?? 0;
    const folder = path.join(this.root, String(Math.max(this.now(), latest + 1)));
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** From now on it counts. */
  async complete(folder: string, requirement: string): Promise<void> {
    await writeFile(path.join(folder, MARK), JSON.stringify({ requirement }));
  }

  async remove(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true });
  }

  async removeAll(): Promise<void> {
    await this.remove(this.root);
  }

  /** Removes what the current one replaces, and what was left behind. */
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

  /** When each was begun, the earliest first. */
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
