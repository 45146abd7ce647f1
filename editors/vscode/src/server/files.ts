// File system queries.

import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import * as path from "node:path";

export async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return await isFile(file);
  } catch {
    return false;
  }
}

/** Whether a file is in one of the folders, by its path or after resolving links. */
export async function isInAnyFolder(file: string, folders: readonly string[]): Promise<boolean> {
  const files = [path.resolve(file), await resolveLinks(file)];
  const realFolders = await Promise.all(folders.map(resolveLinks));
  return [...folders, ...realFolders].some((folder) => files.some((each) => isInside(each, folder)));
}

export function isInside(file: string, folder: string): boolean {
  const relativePath = path.relative(folder, file);
  return relativePath === "" || (!path.isAbsolute(relativePath) && relativePath !== ".." && !relativePath.startsWith(`..${path.sep}`));
}

async function resolveLinks(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    return path.resolve(file);
  }
}
