// The environment of every framedex process that the extension starts.
//
// Empty and relative entries of PYTHONPATH mean the working folder, which is the workspace: Python would import standard
// modules from there. Recorded programs get the user's own PYTHONPATH back (`framedex run`).

import * as path from "node:path";

const PROGRAM_PYTHONPATH = "FRAMEDEX_PROGRAM_PYTHONPATH";

/** The environment `given`, without PYTHONPATH entries that make Python import from the working folder. */
export function framedexEnvironment(given: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const pythonPath = given["PYTHONPATH"];
  const entries = pythonPath?.split(path.delimiter) ?? [];
  const absoluteEntries = entries.filter(path.isAbsolute);
  if (pythonPath === undefined || absoluteEntries.length === entries.length) {
    return given;
  }
  return { ...given, PYTHONPATH: absoluteEntries.join(path.delimiter), [PROGRAM_PYTHONPATH]: pythonPath };
}
