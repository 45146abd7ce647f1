// Explains why a framedex does not serve: the protocol's own errors are too vague ("write EPIPE").

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { reasonOf } from "../plain";
import { ownEnvironment } from "./environment";
import { ServerCommand } from "./locate";

const PATIENCE = 10_000;

/** Explains the failure in a sentence, from the output of `framedex --version`. */
export async function whyFailed({ command, arguments: before }: ServerCommand, error: unknown): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, [...before, "--version"], { timeout: PATIENCE, env: ownEnvironment() });
    return `it is ${stdout.trim() || "not framedex"}, and the connection to it failed (${reasonOf(error)}).`;
  } catch (failure) {
    const { stderr, code, killed } = failure as { stderr?: string; code?: unknown; killed?: boolean };
    if (killed) {
      return `it did not print its version within ${PATIENCE / 1000} s.`;
    }
    const said = stderr?.trim().split("\n").at(-1);
    return said ? `it reports: ${said}` : `it exits with ${String(code)}.`;
  }
}
