// “Show calls through this line”: a list of the recorded stacks, to select one or open its trace.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { withoutIcons } from "../plain";
import { ListedStack } from "../server/protocol";
import { cursor, NO_LINE, Place, placeIn } from "../show";
import { showInStatusBar, showEmptyAnswerReason } from "../why";
import { count } from "../words";

const OPEN_TRACE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("list-flat"), tooltip: "Open the trace of the latest call" };

interface StackItem extends vscode.QuickPickItem {
  readonly listed: ListedStack;
}

export function register(framedex: Framedex): vscode.Disposable {
  return vscode.commands.registerCommand("framedex.showCalls", (given?: unknown) => show(framedex, placeIn(given) ?? cursor()));
}

async function show(framedex: Framedex, place: Place | undefined): Promise<void> {
  if (place === undefined) {
    return showInStatusBar(NO_LINE);
  }
  const stacks = await framedex.server.request<ListedStack[]>("framedex/stacks", place);
  return stacks?.length ? choose(framedex, place, stacks) : showEmptyAnswerReason(framedex, "framedex/stacks", place, () => show(framedex, place));
}

/** Shows the stacks until one is chosen; resolves when the list is closed and the chosen action is done. */
async function choose({ stackSelection }: Framedex, place: Place, stacks: readonly ListedStack[]): Promise<void> {
  const list = vscode.window.createQuickPick<StackItem>();
  list.title = `framedex: calls through line ${place.position.line + 1}, the longest first`;
  list.placeholder = "Pick the stack to step along";
  list.matchOnDescription = true;
  list.items = stacks.map(item);
  list.activeItems = list.items.filter((each) => each.listed.selected);
  const chosen = await new Promise<(() => Promise<unknown>) | undefined>((resolve) => {
    list.onDidTriggerItemButton(({ item: { listed } }) =>
      resolve(async () => vscode.commands.executeCommand("framedex.openTrace", { ...place, call: listed.call })),
    );
    list.onDidAccept(() => {
      const [item] = list.selectedItems;
      resolve(item && (() => stackSelection.move("framedex/selectStack", { ...place, stack: item.listed.stack })));
    });
    list.onDidHide(() => resolve(undefined));
    list.show();
  });
  list.dispose();
  await chosen?.();
}

function item(listed: ListedStack): StackItem {
  return {
    label: withoutIcons(listed.boundary),
    description: `${count(listed.calls, "call")}, ${listed.durationText}${listed.selected ? ", picked" : ""}`,
    detail: `here as frame ${listed.frame + 1}; latest call ${listed.call}`,
    buttons: [OPEN_TRACE],
    listed,
  };
}
