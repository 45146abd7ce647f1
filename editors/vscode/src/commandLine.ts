// framedex's command line, run beside the server: programs under the recorder, and what the server has no request for.

import { spawn } from "node:child_process";
import * as vscode from "vscode";

import { reasonOf, withoutLinks } from "./plain";
import { ownEnvironment } from "./server/environment";
import { Server } from "./server/server";

/** What the reader's first, second and third Cancel send, as by keys in a terminal: to the program too. */
const STOPPING: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGKILL"];

// Characters at the end of stderr in which the reason is looked for.
const TAIL = 4_000;

/** How a command ended: with a status, or by a signal. */
export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What framedex said last: `framedex: ...` and the indented lines below. Empty if it said nothing. */
  readonly reason: string;
}

interface Running {
  readonly ended: Promise<Ended>;
  stop(signal: NodeJS.Signals): void;
}

export class CommandLine implements vscode.Disposable {
  /** Not the server's output: that is a log, which would tag every line of a program. */
  private readonly output = vscode.window.createOutputChannel("framedex: programs");
  private readonly running = new Set<Running>();

  constructor(private readonly server: Server) {}

  /** Runs `framedex ARGUMENTS` in a folder, with a notification that can stop it. Throws an error if it cannot begin. */
  async run(title: string, folder: string, given: readonly string[]): Promise<Ended> {
    const command = (await this.server.ready()) ? this.server.command : undefined;
    if (command === undefined) {
      throw new Error("The language server does not run; the status bar says why.");
    }
    this.output.appendLine(`> framedex ${given.join(" ")}`);
    const running = this.begin(command.command, [...command.arguments, ...given], folder);
    this.running.add(running);
    try {
      return await untilEnded(title, running);
    } finally {
      this.running.delete(running);
    }
  }

  /** Shows what was printed. */
  show(): void {
    this.output.show();
  }

  dispose(): void {
    this.running.forEach((running) => running.stop("SIGTERM"));
    this.output.dispose();
  }

  private begin(command: string, given: readonly string[], folder: string): Running {
    // A process group of its own, so that a signal reaches the program as one from a terminal does.
    const child = spawn(command, given, { cwd: folder, env: ownEnvironment(), detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let tail = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.output.append(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.output.append(text);
      tail = (tail + text).slice(-TAIL);
    });
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on("error", (error) => reject(new Error(withoutLinks(reasonOf(error), 600))));
      child.on("close", (status, signal) => resolve({ status, signal, reason: reasonIn(tail) }));
    });
    return { ended, stop: (signal) => signalGroup(child.pid, signal) };
  }
}

/** Each Cancel asks more firmly; the notification says which was sent. */
async function untilEnded(title: string, { ended, stop }: Running): Promise<Ended> {
  let told = title;
  for (const signal of STOPPING) {
    const options = { location: vscode.ProgressLocation.Notification, title: `framedex: ${told}`, cancellable: true };
    const isOver = await vscode.window.withProgress(options, (_, token) =>
      Promise.race([ended.then(() => true), new Promise<boolean>((resolve) => token.onCancellationRequested(() => resolve(false)))]),
    );
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

function reasonIn(printed: string): string {
  const found = [...printed.matchAll(/^framedex: (.*(?:\n {2}.*)*)/gm)].at(-1);
  return withoutLinks((found?.[1] ?? "").replace(/\s*\n\s*/g, " "), 600);
}
