// The language server as features see it: its state, its long-running work, and requests to it.

import * as vscode from "vscode";
import { CloseAction, ErrorAction, ErrorHandler, LanguageClient, Middleware, ProgressToken } from "vscode-languageclient/node";

import { OwnEnvironments } from "../install/environments";
import { errorReason, withoutLinks } from "../plain";
import { createClient } from "./client";
import { explainServerFailure } from "./failure";
import { isFound, LocateResult, locateServer, NotFound, ServerCommand } from "./locate";
import { openCommandsInViews } from "./ownViews";
import { StepNote } from "./protocol";
import { RestartLimit } from "./restarts";

// Time for the first answer, also on a slow disk. Every request waits for the start, so the start needs a timeout.
const START_TIMEOUT_MS = 60_000;

/** `missing`: framedex was not found; `failed`: it was found but does not run. */
export type ServerState = "starting" | "running" | "stopped" | "missing" | "failed";

/** Why the server is not running. */
export type Problem =
  | { readonly kind: "missing"; readonly found: NotFound }
  | { readonly kind: "failed"; readonly command: ServerCommand; readonly reason: string }
  | { readonly kind: "crashed"; readonly command: ServerCommand };

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private current: ServerState = "stopped";
  private isDisposed = false;
  private turn: Promise<void> = Promise.resolve();
  private waiting: Promise<void> | undefined;
  private readonly limit = new RestartLimit();
  private readonly underWay = new Map<ProgressToken, string>();
  private readonly changed = new vscode.EventEmitter<ServerState>();
  private readonly indexChanged = new vscode.EventEmitter<void>();
  private readonly led = new vscode.EventEmitter<StepNote>();
  private readonly failed = new vscode.EventEmitter<Problem>();

  /** Fires after a change of the state or of the long-running work. */
  readonly onDidChangeState = this.changed.event;
  /** Fires after a change of an index that the server reads, and when another server starts to answer. */
  readonly onDidChangeIndex = this.indexChanged.event;
  /** Fires after a step, with the note about it, such as skipped frames. */
  readonly onDidLead = this.led.event;
  readonly onProblem = this.failed.event;

  /** The command that started the server, once it was found. */
  command: ServerCommand | undefined;
  /** Why the server is not running, until it is restarted. */
  problem: Problem | undefined;

  constructor(private readonly output: vscode.LogOutputChannel, private readonly own: OwnEnvironments) {}

  get state(): ServerState {
    return this.current;
  }

  /** The server's version, while it runs. */
  get version(): string | undefined {
    return this.client?.initializeResult?.serverInfo?.version;
  }

  /** The titles of the server's long-running work, such as indexing. */
  get work(): readonly string[] {
    return [...this.underWay.values()];
  }

  start(): Promise<void> {
    return this.inTurn(() => this.begin());
  }

  stop(): Promise<void> {
    return this.inTurn(() => this.end());
  }

  /** Merges requests that arrive while one is waiting for its turn. */
  restart(): Promise<void> {
    this.waiting ??= this.inTurn(async () => {
      this.waiting = undefined;
      await this.end();
      await this.begin();
    });
    return this.waiting;
  }

  /** Starts the server that the current settings select, unless it is already running. */
  relocate(): Promise<void> {
    return this.inTurn(async () => {
      const located = await locateServer(this.own);
      if (this.current !== "running" || !isFound(located) || located.command !== this.command?.command) {
        await this.end();
        await this.begin(located);
      }
    });
  }

  /** Whether the server is running, after waiting for a start in progress. */
  async ready(): Promise<boolean> {
    if (this.current === "starting") {
      await this.turn;
    }
    return this.current === "running";
  }

  /** Sends a request, after waiting for a start in progress; undefined if no server is running. Throws errors whose text is safe to show. */
  async request<Answer>(method: string, parameters: object = {}): Promise<Answer | undefined> {
    await this.ready();
    try {
      return await this.client?.sendRequest<Answer>(method, parameters);
    } catch (error) {
      // VS Code shows the errors of commands and trees with working links, and names in captures may contain links.
      throw new Error(withoutLinks(errorReason(error), 1_000));
    }
  }

  /** Refreshes every view of an index: the server does not notice changes of an index that it could not open. */
  askAgain(): void {
    this.indexChanged.fire();
  }

  dispose(): void {
    void this.stop();
    this.isDisposed = true;
    vscode.Disposable.from(this.changed, this.indexChanged, this.led, this.failed).dispose();
  }

  /** Runs starts and stops one after another: a restart during a start begins when the start has ended. */
  private inTurn(step: () => Promise<void>): Promise<void> {
    const queued = this.turn.then(step);
    this.turn = queued.catch((error: unknown) => this.output.error(String(error)));
    return queued;
  }

  /** `known` is the result of a search for the server that has just ended. */
  private async begin(known?: LocateResult): Promise<void> {
    if (this.client !== undefined || this.isDisposed) {
      return;
    }
    this.become("starting");
    const located = known ?? (await locateServer(this.own));
    if (!isFound(located)) {
      this.output.warn(located.reason);
      this.fail("missing", { kind: "missing", found: located });
      return;
    }
    this.command = located;
    this.output.info(`${located.command} serve (from the ${located.origin})`);
    const client = createClient(located, this.output, this.errorHandler(located), this.middleware());
    this.client = client;
    client.onNotification("framedex/didChangeIndex", () => this.indexChanged.fire());
    client.onNotification("framedex/led", (led: StepNote) => this.led.fire(led));
    const startTimer = setTimeout(() => client.serverProcess?.kill("SIGKILL"), START_TIMEOUT_MS);
    try {
      await client.start();
      // The client treats a server that ends before its first answer as stopped.
      if (!client.isRunning()) {
        throw new Error("it ended without an answer");
      }
    } catch (error) {
      this.client = undefined;
      this.fail("failed", { kind: "failed", command: located, reason: await explainServerFailure(located, error) });
      return;
    } finally {
      clearTimeout(startTimer);
    }
    this.become("running");
    this.indexChanged.fire();
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.command = undefined;
    this.underWay.clear();
    try {
      await client?.dispose();
    } catch (error) {
      this.output.warn(`The server did not stop in time: ${String(error)}`);
    }
    this.become("stopped");
  }

  private errorHandler(command: ServerCommand): ErrorHandler {
    return {
      // The error is in the output. If the client shut down here, it would not report the end of the server: a pipe that broke
      // while the user typed would leave a server that seems to run.
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        // A server that ends before its first answer would end again.
        if (this.current === "running") {
          this.crashed(command);
        }
        return { action: CloseAction.DoNotRestart, handled: true, message: "The server has ended." };
      },
    };
  }

  private crashed(command: ServerCommand): void {
    this.client = undefined;
    this.underWay.clear();
    if (this.limit.mayRestart()) {
      this.output.warn("The server ended unexpectedly and is being restarted.");
      this.become("starting");
      void this.start();
    } else {
      this.fail("failed", { kind: "crashed", command });
    }
  }

  private middleware(): Middleware {
    return {
      ...openCommandsInViews((method, about) => this.request(method, about)),
      handleWorkDoneProgress: (token, value, next) => {
        if (value.kind === "begin") {
          this.underWay.set(token, value.title);
        } else if (value.kind === "end") {
          this.underWay.delete(token);
        }
        if (value.kind !== "report") {
          this.changed.fire(this.current);
        }
        next(token, value);
      },
    };
  }

  private fail(state: "missing" | "failed", problem: Problem): void {
    this.become(state);
    this.problem = problem;
    this.failed.fire(problem);
  }

  private become(state: ServerState): void {
    this.current = state;
    this.problem = undefined;
    if (!this.isDisposed) {
      void vscode.commands.executeCommand("setContext", "framedex.running", state === "running");
      void vscode.commands.executeCommand("setContext", "framedex.missing", state === "missing");
      this.changed.fire(state);
    }
  }
}
