// Links from outside: `vscode://framedex.framedex/trace?call=61` and `vscode://framedex.framedex/open?file=/f.cc&line=3`.
//
// Anybody can create such a link, so it only shows something: it runs no command and no other program, and opens no index
// outside the workspace. README.md lists the parameters.

import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { openNamed } from "../namedFrame";
import { tellNotRunning } from "../notRunning";
import { reasonOf } from "../plain";
import { warn } from "../remedies";
import { isFile, liesIn } from "../server/files";
import { TraceDocument } from "../server/protocol";

const LONGEST_PATH = 4_096;

type Wanted =
  | { readonly kind: "trace"; readonly id: { call: number } | { stack: number }; readonly capture: number | undefined; readonly index: string | undefined }
  | { readonly kind: "place"; readonly path: string; readonly line: number; readonly column: number };

export function register(framedex: Framedex): vscode.Disposable {
  return vscode.window.registerUriHandler({
    async handleUri(uri) {
      try {
        await follow(framedex, read(uri));
      } catch (error) {
        void warn(`Cannot follow the link: ${reasonOf(error)}`);
      }
    },
  });
}

/** Parses a link. Throws an error if it is malformed. */
export function read(uri: vscode.Uri): Wanted {
  const given = new URLSearchParams(uri.query);
  if (uri.path === "/trace" && !given.has("file")) {
    const [call, stack] = [identifier(given, "call"), identifier(given, "stack")];
    if ((call === undefined) === (stack === undefined)) {
      throw new Error("a trace needs a call or a stack, by its number.");
    }
    const id = call !== undefined ? { call } : { stack: stack ?? 0 };
    return { kind: "trace", id, capture: identifier(given, "capture"), index: absolute(given, "index") };
  }
  const file = absolute(given, "file");
  if ((uri.path === "/trace" || uri.path === "/open") && file !== undefined) {
    return { kind: "place", path: file, line: identifier(given, "line") ?? 1, column: identifier(given, "column") ?? 1 };
  }
  throw new Error("it needs /trace?call=NUMBER, /trace?stack=NUMBER or /open?file=PATH&line=NUMBER.");
}

/** Opens the target of a link. Throws an error with the reason if that fails. */
export async function follow(framedex: Framedex, wanted: Wanted): Promise<void> {
  // The link may have started the editor, so the server may still be starting.
  if (!(await framedex.server.ready())) {
    return tellNotRunning();
  }
  if (wanted.kind === "place") {
    await openNamed(framedex, wanted, undefined);
    return;
  }
  const beside = wanted.index === undefined ? {} : { textDocument: { uri: await besideIndex(wanted.index) } };
  const capture = wanted.capture === undefined ? {} : { capture: wanted.capture };
  const trace = await framedex.server.request<TraceDocument | null>("framedex/traceDocument", { ...wanted.id, ...capture, ...beside });
  if (!trace) {
    throw new Error("there is no such call in the index of this window. Is another folder meant?");
  }
  await vscode.window.showTextDocument(vscode.Uri.parse(trace.uri, true), { preview: false });
}

/** Checks that a file belongs to a project with an index in this workspace: links open no other files. */
async function besideIndex(index: string): Promise<string> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  const project = path.basename(index) === "index.db" ? path.dirname(path.dirname(index)) : index.replace(/\/\.framedex\/?$/, "");
  if (!(await liesIn(project, folders))) {
    throw new Error(`${index} is not in this workspace: open its folder, then follow the link again.`);
  }
  if (!(await isFile(path.join(project, ".framedex", "index.db")))) {
    throw new Error(`${project} has no index. Record a program there, then index it.`);
  }
  return vscode.Uri.file(path.join(project, "link")).toString();
}

function identifier(given: URLSearchParams, name: string): number | undefined {
  const text = given.get(name);
  if (text !== null && !/^[1-9]\d{0,14}$/.test(text)) {
    throw new Error(`${name} is not a number.`);
  }
  return text === null ? undefined : Number(text);
}

function absolute(given: URLSearchParams, name: string): string | undefined {
  const text = given.get(name);
  if (text === null) {
    return undefined;
  }
  // Two slashes would mean another host on Windows.
  const isPlain = text.length <= LONGEST_PATH && path.isAbsolute(text) && !/^[/\\]{2}/.test(text) && !/\p{C}/u.test(text);
  if (!isPlain || path.normalize(text) !== text) {
    throw new Error(`${name} must be an absolute path without . and .. parts.`);
  }
  return text;
}
