// Python environments for tests of where the server is found.

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";

export interface Environment {
  readonly python: string;
  readonly framedex: string;
}

/** An environment in a folder: a `python` that can do nothing, and a `framedex` of this text if there is to be one. */
export function makeEnvironment(folder: string, framedex?: string): Environment {
  const made = { python: path.join(folder, "bin", "python"), framedex: path.join(folder, "bin", "framedex") };
  mkdirSync(path.dirname(made.python), { recursive: true });
  write(made.python, "exit 1");
  if (framedex !== undefined) {
    write(made.framedex, framedex);
  }
  return made;
}

/** Has the `python` of an environment understand `-m pip install WHAT`: that makes a `framedex` of this text. */
export function teachInstalling({ python, framedex }: Environment, what: string, text: string): void {
  const made = `printf '%s\\n' '#!/bin/sh' ${quoted(text)} >${quoted(framedex)} && chmod +x ${quoted(framedex)}`;
  write(python, `[ "$*" = "-m pip install ${what}" ] && ${made}`);
}

export async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "framedex-start-")));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function write(file: string, command: string): void {
  writeFileSync(file, `#!/bin/sh\n${command}\n`);
  chmodSync(file, 0o755);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
