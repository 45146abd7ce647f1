// The stack along which the reader steps: the server remembers it, every feature that shows it hears of it here.

import * as vscode from "vscode";

import { PickedStack, StackPosition } from "./server/protocol";
import { Server } from "./server/server";

export class Picked implements vscode.Disposable {
  private current: PickedStack | undefined;
  /** Of two answers that overtake each other the later question's counts. */
  private turn = 0;
  private readonly changed = new vscode.EventEmitter<PickedStack | undefined>();
  private readonly subscription: vscode.Disposable;

  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {
    // The server knows whether the index still has this stack.
    this.subscription = vscode.Disposable.from(
      server.onDidChangeIndex(() => this.check()),
      server.onDidChangeState((state) => (state === "running" ? undefined : this.clear())),
    );
  }

  /** The picked stack with all of its frames, and the frame at which the reader is. */
  get stack(): PickedStack | undefined {
    return this.current;
  }

  /** Asks the server for a move (`framedex/stepIn`, ...); the new position, undefined where it leads nowhere. */
  async move(request: string, parameters: object): Promise<StackPosition | undefined> {
    const reached = await this.server.request<StackPosition | null>(request, parameters);
    if (reached) {
      await this.refresh();
    }
    return reached ?? undefined;
  }

  /** Has answers be of this capture alone, or of all with null, in the index that is meant by `about`. */
  async answerFrom(capture: number | null, about: object): Promise<void> {
    await this.server.request("framedex/selectCapture", { ...about, capture });
    await this.refresh(); // the server has dropped the picked stack
  }

  /** Takes over what is picked in the server. */
  async refresh(): Promise<void> {
    const turn = ++this.turn;
    const stack = await this.server.request<PickedStack | null>("framedex/stack");
    if (turn === this.turn) {
      this.become(stack ?? undefined);
    }
  }

  /** Takes over what has become of the picked stack, if there is one. */
  async check(): Promise<void> {
    try {
      await (this.current && this.refresh());
    } catch {
      // the server has just ended, and with it the stack: its state tells
    }
  }

  /** Shows no stack any more. */
  clear(): void {
    this.turn++;
    if (this.current !== undefined) {
      this.become(undefined);
    }
  }

  dispose(): void {
    vscode.Disposable.from(this.subscription, this.changed).dispose();
  }

  private become(stack: PickedStack | undefined): void {
    this.current = stack;
    void vscode.commands.executeCommand("setContext", "framedex.stackPicked", stack !== undefined);
    this.changed.fire(stack);
  }
}
