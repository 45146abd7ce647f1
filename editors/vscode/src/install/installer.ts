// Creates an environment and installs framedex into it. Each step is shown in the output and can be cancelled.

import * as vscode from "vscode";

import { startProcess, Exit, Running, waitUntilEnded } from "../childProcess";
import { environmentPython } from "../server/interpreter";
import { fromInterpreter } from "../server/locate";
import { explainPipFailure } from "./failure";
import { PipRequirement } from "./package";

const TITLE = "installing the server";
// Lines of pip's output that describe its progress.
const STEP = /^(?:Collecting|Downloading|Building|Installing collected)\b[^(]*/;

/** An installation failure; `isCausedByPython`: the Python caused it, so another one may help. */
export class InstallFailure extends Error {
  constructor(message: string, readonly isCausedByPython: boolean) {
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
  async fill(folder: string, python: string, what: PipRequirement): Promise<void> {
    const created = await this.run(python, ["-I", "-m", "venv", folder], folder);
    if (created.status !== 0) {
      throw new InstallFailure(`${python} could not create an environment: ${lastLine(created)}`, true);
    }
    const environmentInterpreter = environmentPython(folder);
    let said = "";
    // pip refuses to install into an environment if it is configured to install for the user.
    const pip = ["-I", "-m", "pip", "--no-input", "install", "--no-user", ...what.arguments];
    const installed = await this.run(environmentInterpreter, pip, folder, (text) => (said += text));
    if (installed.status !== 0) {
      throw new InstallFailure(installed.signal === null ? explainPipFailure(said) : `pip was ended by ${installed.signal}.`, false);
    }
    const found = await fromInterpreter(environmentInterpreter, "extension");
    const versionCheck = found && (await this.run(found.command, [...found.arguments, "--version"], folder));
    if (versionCheck?.status !== 0) {
      const why = versionCheck === undefined ? "the environment does not contain framedex." : lastLine(versionCheck);
      throw new InstallFailure(`${what.requirement} was installed, but does not run: ${why}`, false);
    }
  }

  dispose(): void {
    this.running?.stop("SIGTERM");
  }

  /** Runs a program in the extension's own folder, so that Python does not import from another one. */
  private async run(command: string, given: readonly string[], folder: string, said?: (text: string) => void): Promise<Exit> {
    this.output.info([command, ...given].join(" "));
    const progress = new vscode.EventEmitter<string>();
    const child = startProcess(command, given, folder, (text) => {
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
      const exit = await waitUntilEnded(TITLE, this.running, progress.event);
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
