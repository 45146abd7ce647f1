// The selected stack: the server stores it, and every feature that shows it listens to the event here.

import * as vscode from "vscode";

import { SelectedStack, StackPosition } from "./server/protocol";
import { Server } from "./server/server";

export class StackSelection implements vscode.Disposable {
  private current: SelectedStack | undefined;
  /** If answers arrive out of order, the answer to the later request wins. */
  private latestRequest = 0;
  private readonly changed = new vscode.EventEmitter<SelectedStack | undefined>();
  private readonly subscription: vscode.Disposable;

  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {
    // The server knows whether the index still has this stack.
    this.subscription = vscode.Disposable.from(
      server.onDidChangeIndex(() => this.check()),
      server.onDidChangeState((state) => (state === "running" ? undefined : this.clear())),
    );
  }

  /** The selected stack with all of its frames, and the current frame. */
  get stack(): SelectedStack | undefined {
    return this.current;
  }

  /** Requests a move (`framedex/stepIn`, ...); returns the new position, undefined if there is no target. */
  async move(request: string, parameters: object): Promise<StackPosition | undefined> {
    const reached = await this.server.request<StackPosition | null>(request, parameters);
    if (reached) {
      await this.refresh();
    }
    return reached ?? undefined;
  }

  /** Restricts answers to a capture of the index that `about` identifies; null removes the restriction. */
  async selectCapture(capture: number | null, about: object): Promise<void> {
    await this.server.request("framedex/selectCapture", { ...about, capture });
    await this.refresh(); // the server has cleared the selected stack
  }

  /** Reads the selection from the server. */
  async refresh(): Promise<void> {
    const request = ++this.latestRequest;
    const stack = await this.server.request<SelectedStack | null>("framedex/stack");
    if (request === this.latestRequest) {
      this.setStack(stack ?? undefined);
    }
  }

  /** Refreshes the selected stack, if there is one. */
  async check(): Promise<void> {
    try {
      await (this.current && this.refresh());
    } catch {
      // the server has just ended; the state event then clears the stack
    }
  }

  /** Clears the selected stack. */
  clear(): void {
    this.latestRequest++;
    if (this.current !== undefined) {
      this.setStack(undefined);
    }
  }

  dispose(): void {
    vscode.Disposable.from(this.subscription, this.changed).dispose();
  }

  private setStack(stack: SelectedStack | undefined): void {
    this.current = stack;
    void vscode.commands.executeCommand("setContext", "framedex.stackPicked", stack !== undefined);
    this.changed.fire(stack);
  }
}
