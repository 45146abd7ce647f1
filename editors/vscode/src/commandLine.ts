// Runs framedex's command line: for programs under the recorder, and for work without a server request.

import * as vscode from "vscode";

import { startProcess, Exit, Running, waitUntilEnded } from "./childProcess";
import { withoutLinks } from "./plain";
import { Server } from "./server/server";

/** The end of a command: an exit status, or a signal. */
export interface CommandResult extends Pick<Exit, "status" | "signal"> {
  /** framedex's last message: `framedex: ...` and the indented lines below. Empty if it printed none. */
  readonly reason: string;
}

/** Thrown if there is no framedex to run; the server's problem has the reason. */
export class NotRunningError extends Error {}

export class CommandLine implements vscode.Disposable {
  /** A separate output channel: the server's is a log, which would tag every line of a program. */
  private readonly output = vscode.window.createOutputChannel("framedex: programs");
  private readonly running = new Set<Running>();

  constructor(private readonly server: Server) {}

  /** Runs `framedex ARGUMENTS` in a folder, with a notification that can stop it. Throws NotRunning, or an error if the start fails. */
  async run(title: string, folder: string, given: readonly string[]): Promise<CommandResult> {
    const command = (await this.server.ready()) ? this.server.command : undefined;
    if (command === undefined) {
      throw new NotRunningError("The language server is not running. See the status bar for the reason.");
    }
    this.output.appendLine(`> framedex ${given.join(" ")}`);
    const running = startProcess(command.command, [...command.arguments, ...given], folder, (text) => this.output.append(text));
    this.running.add(running);
    try {
      const { status, signal, complaint } = await waitUntilEnded(title, running);
      return { status, signal, reason: findReason(complaint) };
    } finally {
      this.running.delete(running);
    }
  }

  /** Shows the printed output. */
  show(): void {
    this.output.show();
  }

  dispose(): void {
    this.running.forEach((running) => running.stop("SIGTERM"));
    this.output.dispose();
  }
}

function findReason(printed: string): string {
  const found = [...printed.matchAll(/^framedex: (.*(?:\n {2}.*)*)/gm)].at(-1);
  return withoutLinks((found?.[1] ?? "").replace(/\s*\n\s*/g, " "), 600);
}
