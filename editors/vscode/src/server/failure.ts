// Why a framedex that was found does not serve: the protocol's own errors say too little ("write EPIPE").

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { reasonOf } from "../plain";
import { ownEnvironment } from "./environment";
import { ServerCommand } from "./locate";

const PATIENCE = 10_000;

/** In a sentence, by what the command says of itself. */
export async function whyFailed({ command, arguments: before }: ServerCommand, error: unknown): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, [...before, "--version"], { timeout: PATIENCE, env: ownEnvironment() });
    return `it is ${stdout.trim() || "no framedex"}, and the connection to it failed (${reasonOf(error)}).`;
  } catch (failure) {
    const { stderr, code, killed } = failure as { stderr?: string; code?: unknown; killed?: boolean };
    if (killed) {
      return `it does not even tell its version within ${PATIENCE / 1000} s.`;
    }
    const said = stderr?.trim().split("\n").at(-1);
    return said ? `it says: ${said}` : `it ends with ${String(code)}.`;
  }
}
