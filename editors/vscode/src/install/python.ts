// Finds a Python that can create environments: on the PATH, else the one that the user chose.

import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { framedexEnvironment } from "../server/environment";

/** framedex's `requires-python`. */
export const MIN_PYTHON_VERSION = "3.11";

const PYTHON_COMMANDS = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];
const CHECK_TIMEOUT_MS = 10_000;

// A distribution's Python may lack ensurepip (Debian's python3-venv). Any Python version can parse this.
const CHECK_CODE = `import sys
try:
    import venv, ensurepip
except ImportError:
    sys.stdout.write("lacking ")
sys.stdout.write("%d.%d" % sys.version_info[:2])`;

/** Why a Python is unsuitable, in a sentence; undefined if it is suitable. */
export type Objection = string | undefined;

/** The first suitable command; else the reason why there is none, and the remedy. */
export async function findPython(
  which: (name: string) => Promise<string | undefined>,
  chosen: readonly string[],
): Promise<{ readonly python: string } | { readonly reason: string }> {
  const objections: string[] = [];
  for (const candidate of [...PYTHON_COMMANDS.map(which), ...chosen.map(async (each) => each)]) {
    const python = await candidate;
    if (python === undefined) {
      continue;
    }
    const objection = await findObjection(python);
    if (objection === undefined) {
      return { python };
    }
    objections.push(objection);
  }
  return { reason: `framedex needs Python ${MIN_PYTHON_VERSION} or later: ${objections.join(" ") || "there is no Python on the PATH."}` };
}

export async function findObjection(python: string): Promise<Objection> {
  let said: string;
  try {
    said = (await promisify(execFile)(python, ["-I", "-c", CHECK_CODE], { timeout: CHECK_TIMEOUT_MS, env: framedexEnvironment() })).stdout.trim();
  } catch {
    return `${python} cannot be run.`;
  }
  const [, lacking, major, minor] = /^(lacking )?(\d+)\.(\d+)$/.exec(said) ?? [];
  if (major === undefined || minor === undefined) {
    return `${python} is not a Python interpreter.`;
  }
  const [oldestMajor, oldestMinor] = MIN_PYTHON_VERSION.split(".").map(Number);
  if (Number(major) !== oldestMajor || Number(minor) < (oldestMinor ?? 0)) {
    return `${python} is Python ${major}.${minor}.`;
  }
  const remedy = `On Debian and Ubuntu, install it with apt install python${major}.${minor}-venv.`;
  return lacking === undefined ? undefined : `${python} cannot create environments because it lacks ensurepip. ${remedy}`;
}
