// The environment of every framedex process that the extension starts.
//
// Empty and relative entries of PYTHONPATH mean the working folder, which is the workspace: Python would import standard
// modules from there. Recorded programs get the user's own PYTHONPATH back (`framedex run`).

import * as path from "node:path";

const THE_PROGRAMS_OWN = "FRAMEDEX_PROGRAM_PYTHONPATH";

/** `given` without what would have Python import from the working folder. */
export function ownEnvironment(given: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const theirs = given["PYTHONPATH"];
  const entries = theirs?.split(path.delimiter) ?? [];
  const kept = entries.filter(path.isAbsolute);
  if (theirs === undefined || kept.length === entries.length) {
    return given;
  }
  return { ...given, PYTHONPATH: kept.join(path.delimiter), [THE_PROGRAMS_OWN]: theirs };
}
