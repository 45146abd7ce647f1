// framedex's command line, run beside the server: programs under the recorder, and what the server has no request for.

import * as vscode from "vscode";

import { begin, Exit, Running, untilEnded } from "./childProcess";
import { withoutLinks } from "./plain";
import { Server } from "./server/server";

/** How a command ended: with a status, or by a signal. */
export interface Ended extends Pick<Exit, "status" | "signal"> {
  /** What framedex said last: `framedex: ...` and the indented lines below. Empty if it said nothing. */
  readonly reason: string;
}

/** There is no framedex to run: the server's problem says why. */
export class NotRunning extends Error {}

export class CommandLine implements vscode.Disposable {
  /** Not the server's output: that is a log, which would tag every line of a program. */
  private readonly output = vscode.window.createOutputChannel("framedex: programs");
  private readonly running = new Set<Running>();

  constructor(private readonly server: Server) {}

  /** Runs `framedex ARGUMENTS` in a folder, with a notification that can stop it. Throws NotRunning, or an error if it cannot begin. */
  async run(title: string, folder: string, given: readonly string[]): Promise<Ended> {
    const command = (await this.server.ready()) ? this.server.command : undefined;
    if (command === undefined) {
      throw new NotRunning("The language server does not run; the status bar says why.");
    }
    this.output.appendLine(`> framedex ${given.join(" ")}`);
    const running = begin(command.command, [...command.arguments, ...given], folder, (text) => this.output.append(text));
    this.running.add(running);
    try {
      const { status, signal, complaint } = await untilEnded(title, running);
      return { status, signal, reason: reasonIn(complaint) };
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
}

function reasonIn(printed: string): string {
  const found = [...printed.matchAll(/^framedex: (.*(?:\n {2}.*)*)/gm)].at(-1);
  return withoutLinks((found?.[1] ?? "").replace(/\s*\n\s*/g, " "), 600);
}
