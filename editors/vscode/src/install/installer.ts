// Creates an environment and installs framedex into it. Each step is shown in the output and can be cancelled.

import * as vscode from "vscode";

import { begin, Exit, Running, untilEnded } from "../childProcess";
import { environmentPython } from "../server/interpreter";
import { fromInterpreter } from "../server/locate";
import { whyPipFailed } from "./failure";
import { Wanted } from "./package";

const TITLE = "installing the server";
// Lines of pip's output that describe its progress.
const STEP = /^(?:Collecting|Downloading|Building|Installing collected)\b[^(]*/;

/** An installation failure; `isPythons`: whether another Python may help. */
export class InstallFailure extends Error {
  constructor(message: string, readonly isPythons: boolean) {
    super(message);
  }
}

export class Installer implements vscode.Disposable {
  private running: Running | undefined;

  constructor(private readonly output: vscode.LogOutputChannel) {}

  /**
   * Creates the environment in an empty folder, installs framedex into it, and checks that it runs.
   *
   * Throws an InstallFailure, or a CancellationError if the user cancels.
   */
  async fill(folder: string, python: string, what: Wanted): Promise<void> {
    const made = await this.run(python, ["-I", "-m", "venv", folder], folder);
    if (made.status !== 0) {
      throw new InstallFailure(`${python} could not create an environment: ${lastLine(made)}`, true);
    }
    const its = environmentPython(folder);
    let said = "";
    // pip refuses to install into an environment if it is configured to install for the user.
    const pip = ["-I", "-m", "pip", "--no-input", "install", "--no-user", ...what.arguments];
    const installed = await this.run(its, pip, folder, (text) => (said += text));
    if (installed.status !== 0) {
      throw new InstallFailure(installed.signal === null ? whyPipFailed(said) : `pip was ended by ${installed.signal}.`, false);
    }
    const found = await fromInterpreter(its, "extension");
    const answered = found && (await this.run(found.command, [...found.arguments, "--version"], folder));
    if (answered?.status !== 0) {
      const why = answered === undefined ? "there is no framedex in it." : lastLine(answered);
      throw new InstallFailure(`${what.requirement} was installed, but does not run: ${why}`, false);
    }
  }

  dispose(): void {
    this.running?.stop("SIGTERM");
  }

  /** Runs a program in a folder of ours: Python must not import from anybody else's. */
  private async run(command: string, given: readonly string[], folder: string, said?: (text: string) => void): Promise<Exit> {
    this.output.info([command, ...given].join(" "));
    const progress = new vscode.EventEmitter<string>();
    const child = begin(command, given, folder, (text) => {
      said?.(text);
      for (const line of text.split("\n").filter((each) => each.trim() !== "")) {
        this.output.info(line);
        const step = STEP.exec(line)?.[0];
        if (step !== undefined) {
          progress.fire(step.trim());
        }
      }
    });
    let isCancelled = false;
    const stop = (signal: NodeJS.Signals) => {
      isCancelled = true;
      child.stop(signal);
    };
    this.running = { ended: child.ended, stop };
    try {
      const exit = await untilEnded(TITLE, this.running, progress.event);
      if (isCancelled) {
        throw new vscode.CancellationError();
      }
      return exit;
    } finally {
      this.running = undefined;
      progress.dispose();
    }
  }
}

/** The last line of a failed program's output. */
function lastLine({ status, signal, complaint }: Exit): string {
  const how = signal === null ? `it ended with status ${String(status)}.` : `it was ended by ${signal}.`;
  return complaint.trim().split("\n").at(-1) || how;
}
