// Explains why a framedex does not serve: the protocol's own errors are too vague ("write EPIPE").

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { errorReason } from "../plain";
import { framedexEnvironment } from "./environment";
import { ServerCommand } from "./locate";

const VERSION_TIMEOUT_MS = 10_000;

/** Explains the failure in a sentence, from the output of `framedex --version`. */
export async function explainServerFailure({ command, arguments: before }: ServerCommand, error: unknown): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, [...before, "--version"], { timeout: VERSION_TIMEOUT_MS, env: framedexEnvironment() });
    return `it is ${stdout.trim() || "not framedex"}, and the connection to it failed (${errorReason(error)}).`;
  } catch (failure) {
    const { stderr, code, killed } = failure as { stderr?: string; code?: unknown; killed?: boolean };
    if (killed) {
      return `it did not print its version within ${VERSION_TIMEOUT_MS / 1000} s.`;
    }
    const lastLine = stderr?.trim().split("\n").at(-1);
    return lastLine ? `it reports: ${lastLine}` : `it exits with ${String(code)}.`;
  }
}
