// Programs that run beside the server, with a notification that can stop them.

import { spawn } from "node:child_process";
import * as vscode from "vscode";

import { reasonOf, withoutLinks } from "./plain";
import { ownEnvironment } from "./server/environment";

/** What the reader's first, second and third Cancel send, as by keys in a terminal: to the program too. */
const STOPPING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGKILL"];

// Characters at the end of what a program says in which a reason is looked for.
const TAIL = 4_000;

/** How a program ended: with a status, or by a signal. */
export interface Exit {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to stderr. */
  readonly complaint: string;
}

export interface Running {
  readonly ended: Promise<Exit>;
  stop(signal: NodeJS.Signals): void;
}

/** Begins a program in a folder; `said` is handed what it writes. `ended` is rejected where it cannot begin. */
export function begin(command: string, given: readonly string[], folder: string, said: (text: string) => void): Running {
  // A process group of its own, so that a signal reaches the program as one from a terminal does.
  const child = spawn(command, given, { cwd: folder, env: ownEnvironment(), detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  child.stdout.setEncoding("utf8").on("data", said);
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said(text);
    complaint = (complaint + text).slice(-TAIL);
  });
  const ended = new Promise<Exit>((resolve, reject) => {
    child.on("error", (error) => reject(new Error(withoutLinks(reasonOf(error), 600))));
    child.on("close", (status, signal) => resolve({ status, signal, complaint }));
  });
  return { ended, stop: (signal) => signalGroup(child.pid, signal) };
}

/** Each Cancel asks more firmly; the notification says which was sent, and what `onProgress` is told meanwhile. */
export async function untilEnded(
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
    told = `${title}: ${signal} was sent, it has not ended yet`;
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
