// One item picked from a list. The answer comes after the list is gone, because VS Code then puts the focus
// back where it was, and would take it from whatever the answer opens.

import * as vscode from "vscode";

type Options = Pick<vscode.QuickPickOptions, "title" | "placeHolder" | "matchOnDescription" | "matchOnDetail">;

export function chooseItem<T extends vscode.QuickPickItem>(items: readonly T[], options: Options): Promise<T | undefined> {
  const list = vscode.window.createQuickPick<T>();
  const { placeHolder: placeholder, ...others } = options;
  Object.assign(list, { ...others, placeholder, items });
  return new Promise((resolve) => {
    let picked: T | undefined;
    list.onDidAccept(() => {
      [picked] = list.selectedItems;
      list.hide();
    });
    list.onDidHide(() => {
      list.dispose();
      resolve(picked);
    });
    list.show();
  });
}
