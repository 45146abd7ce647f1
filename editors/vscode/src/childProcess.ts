// Runs child processes with a notification that can stop them.

import { spawn } from "node:child_process";
import * as vscode from "vscode";

import { errorReason, withoutLinks } from "./plain";
import { framedexEnvironment } from "./server/environment";

/** The signals for the first, second and third Cancel; the whole process group receives them, as in a terminal. */
const STOPPING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGKILL"];

// Characters at the end of a program's output that are searched for a reason.
const MAX_TAIL_LENGTH = 4_000;

/** The end of a program: an exit status, or a signal. */
export interface Exit {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of its stderr output. */
  readonly complaint: string;
}

export interface Running {
  readonly ended: Promise<Exit>;
  stop(signal: NodeJS.Signals): void;
}

/** Starts a program in a folder; `onOutput` gets its output. `ended` is rejected if the start fails. */
export function startProcess(command: string, given: readonly string[], folder: string, onOutput: (text: string) => void): Running {
  // A separate process group, so that a signal reaches the program like one from a terminal.
  const child = spawn(command, given, { cwd: folder, env: framedexEnvironment(), detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  child.stdout.setEncoding("utf8").on("data", onOutput);
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    onOutput(text);
    complaint = (complaint + text).slice(-MAX_TAIL_LENGTH);
  });
  const ended = new Promise<Exit>((resolve, reject) => {
    child.on("error", (error) => reject(new Error(withoutLinks(errorReason(error), 600))));
    child.on("close", (status, signal) => resolve({ status, signal, complaint }));
  });
  return { ended, stop: (signal) => signalGroup(child.pid, signal) };
}

/** Each Cancel sends a stronger signal; the notification shows the signal and the progress. */
export async function waitUntilEnded(
  title: string,
  { ended, stop }: Running,
  onProgress: vscode.Event<string> = () => new vscode.Disposable(() => undefined),
): Promise<Exit> {
  let told = title;
  for (const signal of STOPPING) {
    const options = { location: vscode.ProgressLocation.Notification, title: `framedex: ${told}`, cancellable: true };
    const isOver = await vscode.window.withProgress(options, async (progress, token) => {
      const listening = onProgress((message) => progress.report({ message }));
      const cancelled = new Promise<boolean>((resolve) => token.onCancellationRequested(() => resolve(false)));
      try {
        return await Promise.race([ended.then(() => true), cancelled]);
      } finally {
        listening.dispose();
      }
    });
    if (isOver) {
      break;
    }
    stop(signal);
    told = `${title}: sent ${signal}, still running`;
  }
  return ended;
}

function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (leader !== undefined) {
      process.kill(-leader, signal);
    }
  } catch {
    // it has just ended
  }
}
