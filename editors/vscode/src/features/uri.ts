// Links from outside: `vscode://framedex.framedex/trace?call=61` and `vscode://framedex.framedex/open?file=/f.cc&line=3`.
//
// Anybody can create such a link, so it only shows something: it runs no command and no other program, and opens no index
// outside the workspace. README.md lists the parameters.

import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { openNamed } from "../namedFrame";
import { showNotRunning } from "../notRunning";
import { errorReason } from "../plain";
import { warn } from "../remedies";
import { isFile, isInAnyFolder } from "../server/files";
import { TraceDocument } from "../server/protocol";

const MAX_PATH_LENGTH = 4_096;

type LinkTarget =
  | { readonly kind: "trace"; readonly id: { call: number } | { stack: number }; readonly capture: number | undefined; readonly index: string | undefined }
  | { readonly kind: "place"; readonly path: string; readonly line: number; readonly column: number };

export function register(framedex: Framedex): vscode.Disposable {
  return vscode.window.registerUriHandler({
    async handleUri(uri) {
      try {
        await follow(framedex, read(uri));
      } catch (error) {
        void warn(`Cannot follow the link: ${errorReason(error)}`);
      }
    },
  });
}

/** Parses a link. Throws an error if it is malformed. */
export function read(uri: vscode.Uri): LinkTarget {
  const given = new URLSearchParams(uri.query);
  if (uri.path === "/trace" && !given.has("file")) {
    const [call, stack] = [parseId(given, "call"), parseId(given, "stack")];
    if ((call === undefined) === (stack === undefined)) {
      throw new Error("a trace needs a call or a stack, by its number.");
    }
    const id = call !== undefined ? { call } : { stack: stack ?? 0 };
    return { kind: "trace", id, capture: parseId(given, "capture"), index: parseAbsolutePath(given, "index") };
  }
  const file = parseAbsolutePath(given, "file");
  if ((uri.path === "/trace" || uri.path === "/open") && file !== undefined) {
    return { kind: "place", path: file, line: parseId(given, "line") ?? 1, column: parseId(given, "column") ?? 1 };
  }
  throw new Error("use /trace?call=NUMBER, /trace?stack=NUMBER or /open?file=PATH&line=NUMBER.");
}

/** Opens the target of a link. Throws an error with the reason if that fails. */
export async function follow(framedex: Framedex, wanted: LinkTarget): Promise<void> {
  // The link may have started the editor, so the server may still be starting.
  if (!(await framedex.server.ready())) {
    return showNotRunning();
  }
  if (wanted.kind === "place") {
    await openNamed(framedex, wanted, undefined);
    return;
  }
  const folderParams = wanted.index === undefined ? {} : { textDocument: { uri: await findIndexUri(wanted.index) } };
  const capture = wanted.capture === undefined ? {} : { capture: wanted.capture };
  const trace = await framedex.server.request<TraceDocument | null>("framedex/traceDocument", { ...wanted.id, ...capture, ...folderParams });
  if (!trace) {
    throw new Error("there is no such call in the index of this window. Is another folder meant?");
  }
  await vscode.window.showTextDocument(vscode.Uri.parse(trace.uri, true), { preview: false });
}

/** Checks that a file belongs to a project with an index in this workspace: links open no other files. */
async function findIndexUri(index: string): Promise<string> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  const project = path.basename(index) === "index.db" ? path.dirname(path.dirname(index)) : index.replace(/\/\.framedex\/?$/, "");
  if (!(await isInAnyFolder(project, folders))) {
    throw new Error(`${index} is not in this workspace: open its folder, then follow the link again.`);
  }
  if (!(await isFile(path.join(project, ".framedex", "index.db")))) {
    throw new Error(`${project} has no index. Record a program there, then index it.`);
  }
  return vscode.Uri.file(path.join(project, "link")).toString();
}

function parseId(given: URLSearchParams, name: string): number | undefined {
  const text = given.get(name);
  if (text !== null && !/^[1-9]\d{0,14}$/.test(text)) {
    throw new Error(`${name} is not a number.`);
  }
  return text === null ? undefined : Number(text);
}

function parseAbsolutePath(given: URLSearchParams, name: string): string | undefined {
  const text = given.get(name);
  if (text === null) {
    return undefined;
  }
  // Two slashes would mean another host on Windows.
  const isPlain = text.length <= MAX_PATH_LENGTH && path.isAbsolute(text) && !/^[/\\]{2}/.test(text) && !/\p{C}/u.test(text);
  if (!isPlain || path.normalize(text) !== text) {
    throw new Error(`${name} must be an absolute path without . and .. parts.`);
  }
  return text;
}
