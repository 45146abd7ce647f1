// The activity view and traces: the tree is the extension's own, over the server that the installed extension runs.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";

import { CallNode, FrameNode, GlueNode, MoreCallsNode, Node } from "../../../../editors/vscode/src/activity/nodes";
import { ActivityTree, TreeOptions } from "../../../../editors/vscode/src/activity/tree";
import { rebuild } from "../../../../editors/vscode/src/features/indexing";
import { Framedex } from "../../../../editors/vscode/src/framedex";
import { traceUri } from "../../../../editors/vscode/src/traces";
import { running } from "./framedex";
import { program } from "./project";
import { test, until } from "./runner";

export { run } from "./runner";

const PUT = "PJRT_Client_BufferFromHostBuffer";
const PLAIN: TreeOptions = { filter: "", foldGlue: true, order: "time" };

test("the view goes from captures to boundary functions, calls and frames", async () => {
  const tree = await treeWith(PLAIN);
  const [capture] = await tree.getChildren();
  assert.match(labelOf(tree, capture), /^device_put\.py$/);
  const boundaries = await tree.getChildren(capture);
  const put = boundaries.find((node) => labelOf(tree, node) === PUT);
  assert.match(descriptionOf(tree, put), /^2 calls, /);
  const calls = await tree.getChildren(put);
  assert.equal(calls.length, 2);
  const frames = await framesOfPut(tree); // the first call is the longest: on a busy machine, either
  assert.ok(frames.some((node) => labelOf(tree, node) === "put_scalar" && descriptionOf(tree, node) === "device_put.py:8"));
  assert.equal(labelOf(tree, frames.at(-1)), PUT);
});

test("folded glue frames are counted, and none is lost", async () => {
  const folded = await framesOfPut(await treeWith(PLAIN));
  const all = await framesOfPut(await treeWith({ ...PLAIN, foldGlue: false }));
  const glue = folded.filter((node): node is GlueNode => node.kind === "glue");
  assert.ok(glue.length > 0);
  assert.ok(all.every((node) => node.kind === "frame"));
  assert.equal(folded.length - glue.length + glue.reduce((sum, node) => sum + node.frames.length, 0), all.length);
});

test("a filter leaves the calls whose stack or arguments have the text", async () => {
  const tree = await treeWith({ ...PLAIN, filter: "round_trip" });
  const [capture] = await tree.getChildren();
  const put = (await tree.getChildren(capture)).find((node) => labelOf(tree, node) === PUT);
  assert.match(descriptionOf(tree, put), /^1 call, /);
  assert.equal((await tree.getChildren(put)).length, 1);
  assert.match(descriptionOf(tree, capture), /^capture \d+, \d+ of \d+ calls$/);
  tree.setOptions({ filter: "F32[2,3]" });
  assert.ok((await tree.getChildren(capture)).length > 0);
  tree.setOptions({ filter: "nothing has this" });
  assert.deepEqual((await tree.getChildren(capture)).map((node) => labelOf(tree, node)), ["no call passes the filter"]);
});

test("every call of a function can be reached, page by page", async () => {
  const { commandLine } = await running();
  const project = vscode.Uri.joinPath(program(), "..", "many");
  const many = vscode.Uri.joinPath(project, "many.py");
  await vscode.workspace.fs.writeFile(many, Buffer.from("import jax\nfor number in range(1100):\n    jax.device_put(number)\n"));
  // Else the index around it would be its.
  await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(project, ".framedex", "index.db"), Buffer.from(""));
  try {
    assert.equal(await rebuild(commandLine, project.fsPath), true);
    assert.equal((await commandLine.run("recording", project.fsPath, ["run", many.fsPath])).status, 0);
    assert.equal((await commandLine.run("indexing", project.fsPath, ["index"])).status, 0);
    const tree = await treeWith(PLAIN);
    const index = await until("the index", async () => (await tree.getChildren()).find((each) => labelOf(tree, each) === "many"));
    const [capture] = await tree.getChildren(index);
    const put = (await tree.getChildren(capture)).find((node) => labelOf(tree, node) === PUT);
    let [calls, pages] = [await tree.getChildren(put), 1];
    for (let more = calls.at(-1); isMore(more); more = calls.at(-1), pages++) {
      assert.match(labelOf(tree, more), /^\d+ more of 1,100$/);
      tree.showMore(more);
      calls = await tree.getChildren(put);
      assert.equal(calls.filter((node) => node.kind === "call").length, more.shown + more.next);
    }
    assert.equal(new Set(calls.map((node) => (node as CallNode).call.id)).size, 1100);
    assert.equal(pages, 6); // 50 calls, then always as many as there were
    tree.refresh();
    assert.equal((await tree.getChildren(put)).length, 1100);
  } finally {
    await vscode.workspace.fs.delete(project, { recursive: true });
  }
});

test("a frame opens its source beside its trace, on its line in both", async () => {
  const frames = await framesOfPut(await treeWith(PLAIN));
  const frame = frames.find((node): node is FrameNode => node.kind === "frame" && node.frame.function === "put_scalar");
  await vscode.commands.executeCommand("framedex.activity.openFrame", frame);
  const [trace, source] = await until("both editors", () => {
    const shown = vscode.window.visibleTextEditors;
    const found = ["framedex-trace", "file"].map((scheme) => shown.find(({ document }) => document.uri.scheme === scheme));
    return found.every((editor) => editor !== undefined) ? found : undefined;
  });
  assert.match(trace?.document.lineAt(trace.selection.active.line).text ?? "", /P put_scalar at /);
  assert.equal(source?.document.uri.path, program().path);
  assert.equal(source?.selection.active.line, 7);
  assert.notEqual(trace?.viewColumn, source?.viewColumn);
});

test("a trace document has folds, links and definitions", async () => {
  const document = await openTrace();
  assert.equal(document.languageId, "framedex-trace");
  assert.match(document.getText(), /^framedex trace, format 1\ncall \d+: PJRT_Client_BufferFromHostBuffer,/);
  const folds = await until("folds", () => some<vscode.FoldingRange>("vscode.executeFoldingRangeProvider", document.uri));
  assert.ok(folds.length > 1);
  const links = await until("links", () => some<vscode.DocumentLink>("vscode.executeLinkProvider", document.uri));
  assert.ok(links.some((link) => link.target?.path === program().path));
  const line = document.getText().split("\n").findIndex((text) => text.includes("P put_scalar"));
  const [place] = await until("a definition", () =>
    some<vscode.LocationLink>("vscode.executeDefinitionProvider", document.uri, new vscode.Position(line, 10)),
  );
  assert.equal(place?.targetUri.path, program().path);
});

test("a trace is copied as Markdown, from the view and from its document", async () => {
  const tree = await treeWith(PLAIN);
  await vscode.commands.executeCommand("framedex.copyTrace", await callOfPut(tree));
  const fromView = await vscode.env.clipboard.readText();
  assert.ok(fromView.startsWith(`### \`${PUT}\`\n`));
  assert.ok(fromView.includes("[`device_put.py:8`](<file:///"));
  await vscode.window.showTextDocument(await openTrace());
  await vscode.env.clipboard.writeText("");
  await vscode.commands.executeCommand("framedex.copyTrace");
  assert.equal(await vscode.env.clipboard.readText(), fromView);
});

test("an open trace stays readable while the server restarts", async () => {
  const document = await openTrace();
  await vscode.window.showTextDocument(document);
  const text = document.getText();
  await vscode.commands.executeCommand("framedex.restartServer");
  assert.equal(document.isClosed, false);
  assert.equal(document.getText(), text);
  await until("the view, from the new server", async () => (await (await treeWith(PLAIN)).getChildren())[0]);
});

test("the trace of a line opens", async () => {
  const editor = await vscode.window.showTextDocument(program());
  editor.selection = new vscode.Selection(7, 0, 7, 0);
  await vscode.commands.executeCommand("framedex.showTrace");
  await until("the trace", () => (vscode.window.activeTextEditor?.document.languageId === "framedex-trace" ? true : undefined));
});

test("a flame graph opens in a tab of its own, once", async () => {
  const [capture] = await (await treeWith(PLAIN)).getChildren();
  await vscode.commands.executeCommand("framedex.flameGraph", capture);
  await vscode.commands.executeCommand("framedex.flameGraph", capture);
  const tabs = await until("a tab", () => {
    const found = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => tab.input instanceof vscode.TabInputWebview);
    return found.length > 0 ? found : undefined;
  });
  assert.deepEqual(tabs.map((tab) => /^Flame graph: capture \d+: device_put\.py$/.test(tab.label)), [true]);
});

test("an index that cannot be used is shown with the reason", async () => {
  const project = vscode.Uri.joinPath(program(), "..", "spoilt");
  await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(project, ".framedex", "index.db"), Buffer.from("spoilt ".repeat(1000)));
  try {
    const tree = await treeWith(PLAIN);
    const node = await until("the index", async () => (await tree.getChildren()).find((each) => labelOf(tree, each) === "spoilt"));
    assert.match(descriptionOf(tree, node), /^is damaged/);
    assert.match(String(tree.getTreeItem(node).tooltip), /framedex index/);
    assert.equal(tree.getTreeItem(node).contextValue, "index.damaged");
    assert.equal(node.kind === "index" && node.index.action?.title, "Rebuild the index");
    assert.deepEqual(await tree.getChildren(node), []);
  } finally {
    await vscode.workspace.fs.delete(project, { recursive: true });
  }
});

test("an index that cannot be used is made anew", async () => {
  const { commandLine } = await running();
  const project = vscode.Uri.joinPath(program(), "..", "spoilt");
  await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(project, ".framedex", "index.db"), Buffer.from("spoilt ".repeat(1000)));
  try {
    assert.equal(await rebuild(commandLine, project.fsPath), true);
    const tree = await treeWith(PLAIN);
    assert.ok((await tree.getChildren()).every((each) => each.kind === "capture"));
  } finally {
    await vscode.workspace.fs.delete(project, { recursive: true });
  }
});

test("a frame says by its menu whether its source is here", async () => {
  const tree = await treeWith({ ...PLAIN, foldGlue: false });
  const frames = (await framesOfPut(tree)).filter((node): node is FrameNode => node.kind === "frame");
  const menus = (isHere: boolean) => frames.filter(({ frame }) => (frame.location !== null) === isHere).map((node) => tree.getTreeItem(node).contextValue);
  assert.deepEqual([...new Set(menus(true))], ["frame.here"]);
  assert.ok(menus(false).length > 0 && menus(false).every((menu) => menu === "frame" || menu === "frame.public"));
});

async function treeWith(look: TreeOptions): Promise<ActivityTree> {
  const extension = vscode.extensions.getExtension<Framedex>("framedex.framedex");
  assert.ok(extension);
  const { server } = await extension.activate();
  await until("the server", () => (server.state === "running" ? true : undefined));
  return new ActivityTree(server, look);
}

function isMore(node: Node | undefined): node is MoreCallsNode {
  return node?.kind === "more";
}

async function callOfPut(tree: ActivityTree): Promise<CallNode> {
  const [capture] = await tree.getChildren();
  const put = (await tree.getChildren(capture)).find((node) => labelOf(tree, node) === PUT);
  const call = (await tree.getChildren(put)).find((node): node is CallNode => node.kind === "call" && !node.call.arguments.includes("F32"));
  assert.ok(call);
  return call;
}

async function framesOfPut(tree: ActivityTree): Promise<Node[]> {
  return tree.getChildren(await callOfPut(tree));
}

async function openTrace(): Promise<vscode.TextDocument> {
  const { call, parent } = await callOfPut(await treeWith(PLAIN));
  return vscode.workspace.openTextDocument(traceUri(parent.parent.folder, call.id));
}

async function some<Answer>(command: string, ...about: unknown[]): Promise<Answer[] | undefined> {
  const answers = await vscode.commands.executeCommand<Answer[] | undefined>(command, ...about);
  return answers?.length ? answers : undefined;
}

function labelOf(tree: ActivityTree, node: Node | undefined): string {
  return node === undefined ? "" : String(tree.getTreeItem(node).label);
}

function descriptionOf(tree: ActivityTree, node: Node | undefined): string {
  return node === undefined ? "" : String(tree.getTreeItem(node).description);
}
