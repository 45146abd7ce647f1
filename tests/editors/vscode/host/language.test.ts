// The language features, asked as VS Code itself asks them.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";

import { program, PUT_SCALAR } from "./project";
import { test, until } from "./runner";

export { run } from "./runner";

test("the extension is activated by a Python file of a recorded project", async () => {
  await vscode.window.showTextDocument(program());
  await until("the extension", () => vscode.extensions.getExtension("framedex.framedex")?.isActive || undefined);
});

test("hover says what was recorded on a line", async () => {
  await vscode.window.showTextDocument(program());
  const text = await until("a hover", async () => {
    const hovers = await ask<vscode.Hover[]>("vscode.executeHoverProvider", program(), PUT_SCALAR);
    const parts = hovers.flatMap((hover) => hover.contents);
    return parts.map((part) => (part as vscode.MarkdownString).value).join("\n") || undefined;
  });
  assert.match(text, /PJRT_Client_BufferFromHostBuffer/);
});

test("the menus are offered where questions are answered", async () => {
  const document = await vscode.workspace.openTextDocument(program());
  const { activationEvents, contributes } = vscode.extensions.getExtension("framedex.framedex")?.packageJSON;
  const [menu] = contributes.menus["editor/context"] as { when: string }[];
  const languages = /editorLangId =~ \/\^\((.*?)\)\$\//.exec(menu?.when ?? "")?.[1]?.split("|") ?? [];
  assert.ok(languages.includes("cuda-cpp"));
  try {
    for (const language of languages) {
      assert.ok(activationEvents.includes(`onLanguage:${language}`), language);
      await vscode.languages.setTextDocumentLanguage(document, language);
      await until(`a hover in ${language}`, async () => (await ask<vscode.Hover[]>("vscode.executeHoverProvider", program(), PUT_SCALAR))[0]);
    }
  } finally {
    await vscode.languages.setTextDocumentLanguage(document, "python");
  }
});

test("the definition is the frame that really ran next", async () => {
  const [first] = await ask<vscode.LocationLink[]>("vscode.executeDefinitionProvider", program(), PUT_SCALAR);
  assert.match(first?.targetUri.path ?? "", /\/jax\/_src\/api\.py$/);
});

test("the call hierarchy goes down to C++", async () => {
  let items = await ask<vscode.CallHierarchyItem[]>("vscode.prepareCallHierarchy", program(), PUT_SCALAR);
  const names = items.map((item) => item.name);
  for (let item = items[0]; item !== undefined; item = items[0]) {
    const calls = await ask<vscode.CallHierarchyOutgoingCall[]>("vscode.provideOutgoingCalls", item);
    items = calls.map((call) => call.to);
    names.push(...items.map((item) => item.name));
  }
  assert.ok(names.some((name) => name.startsWith("PJRT_")), names.join(", "));
});

function ask<Answer>(command: string, ...about: unknown[]): Thenable<Answer> {
  return vscode.commands.executeCommand<Answer>(command, ...about);
}
