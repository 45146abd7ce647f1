// Links from outside: what they may ask for, and what they open.

import * as assert from "node:assert/strict";
import * as path from "node:path";
import * as vscode from "vscode";

import { follow, read } from "../../../../editors/vscode/src/features/uri";
import { running, untilShown } from "./framedex";
import { program } from "./project";
import { test } from "./runner";

export { run } from "./runner";

function link(rest: string): vscode.Uri {
  return vscode.Uri.parse(`vscode://framedex.framedex${rest}`);
}

async function go(rest: string): Promise<void> {
  await follow(await running(), read(link(rest)));
}

test("a link to a call opens its trace", async () => {
  await go("/trace?call=1");
  await untilShown(/\.fdtrace:/);
  const document = vscode.window.activeTextEditor?.document;
  assert.equal(document?.languageId, "framedex-trace");
  assert.equal(document?.uri.scheme, "framedex-trace");
  assert.match(document?.getText() ?? "", /^framedex trace, format 1/);
});

test("a link may name the index of this workspace, and a capture", async () => {
  const folder = path.dirname(program().fsPath);
  await go(`/trace?call=2&capture=1&index=${folder}/.framedex`);
  await untilShown(/^call-2\.fdtrace:/);
  await assert.rejects(go("/trace?call=2&capture=99"), /no such call/);
  await assert.rejects(go("/trace?call=999999999"), /no such call/);
});

test("a link to a place opens it", async () => {
  await go(`/open?file=${program().fsPath}&line=8&column=12`);
  await untilShown(/^device_put\.py:8$/);
});

test("an index outside the workspace is not opened", async () => {
  for (const index of ["/", "/etc/.framedex/index.db", `${path.dirname(program().fsPath)}-other`]) {
    await assert.rejects(go(`/trace?call=1&index=${index}`), /not in this workspace/);
  }
});

test("what is no link of ours is refused", async () => {
  for (const rest of [
    "",
    "/run?command=workbench.action.quit",
    "/trace",
    "/trace?call=1&stack=2",
    "/trace?call=-1",
    "/trace?call=1e3",
    "/trace?call=99999999999999999999",
    "/trace?call=1&capture=all",
    "/trace?call=1&index=../elsewhere",
    "/trace?call=1&index=/w/../etc",
    "/open",
    "/open?file=relative.py",
    "/open?file=//host/share/x.py",
    "/open?file=/w/a%0Ab.py",
    "/open?file=/w/%E2%80%AEb.py",
    "/open?file=/w/a.py&line=0",
    `/open?file=/${"a".repeat(5000)}`,
  ]) {
    assert.throws(() => read(link(rest)), Error, rest);
  }
});
