// “Show the stacks behind this number”: the stacks of a line's cost, from a code lens or the activity view.

import * as vscode from "vscode";

import { captureOf, CostNode } from "../activity/nodes";
import { Framedex } from "../framedex";
import { withoutIcons } from "../plain";
import { Costs, CostStack } from "../server/protocol";
import { placeIn } from "../show";
import { openTrace, traceUri } from "../traces";
import { showInStatusBar } from "../why";

interface StackItem extends vscode.QuickPickItem {
  readonly stack: CostStack;
}

export function register({ server }: Framedex): vscode.Disposable {
  return vscode.commands.registerCommand("framedex.showCosts", async (given?: unknown) => {
    if (isCost(given)) {
      const folder = captureOf(given)?.folder ?? "";
      return choose(given.cost.stacks, (stack) => openTrace(traceUri(folder, stack.call)));
    }
    const place = placeIn(given);
    if (place === undefined) {
      return undefined;
    }
    const { answer } = given as { answer?: unknown };
    const found = await server.request<Costs | null>("framedex/costs", { ...place, answer });
    const stacks = found?.lines.flatMap((line) => line.stacks) ?? [];
    return choose(stacks, ({ call }) => vscode.commands.executeCommand("framedex.openTrace", { ...place, call }));
  });
}

/** Opens the only stack, or the one that the user chooses. */
async function choose(stacks: readonly CostStack[], show: (stack: CostStack) => Thenable<unknown>): Promise<unknown> {
  const [first] = stacks;
  if (first === undefined) {
    return showInStatusBar("The index has changed and no longer has costs for this line.");
  }
  const options = { title: "framedex: stacks behind this number, the latest first", placeHolder: "Open the trace of its latest call" };
  const picked = stacks.length === 1 ? { stack: first } : await vscode.window.showQuickPick(stacks.map(item), options);
  return picked && show(picked.stack);
}

function item(stack: CostStack): StackItem {
  return {
    label: withoutIcons(stack.text),
    description: `call ${stack.call}`,
    detail: withoutIcons(stack.outward.map((line) => `from ${line.function}, ${line.place}`).join("; "), 1_000),
    stack,
  };
}

function isCost(given: unknown): given is CostNode {
  return (given as Partial<CostNode> | undefined)?.kind === "cost";
}
