// Two captures compared, as a whole and at the line of the cursor: a document that only shows.

import * as vscode from "vscode";

import { CaptureNode } from "../activity/nodes";
import { choosePair, knownCaptures } from "../capturePair";
import { Framedex } from "../framedex";
import { plain } from "../plain";
import { Capture, Compared } from "../server/protocol";
import { Server } from "../server/server";
import { cursor, Place } from "../show";
import { clock, count } from "../words";

const SCHEME = "framedex-comparison";

export function register({ server }: Framedex): vscode.Disposable {
  const texts = new Map<string, string>();
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? "This comparison was made before: make it again.\n",
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => texts.delete(uri.toString())),
    vscode.commands.registerCommand("framedex.compare", async (given?: CaptureNode | vscode.Uri) => {
      // From the menu of an editor it is the editor's file.
      const node = given instanceof vscode.Uri ? undefined : given;
      const place = node === undefined ? cursor() : undefined;
      const about = node !== undefined ? { folder: node.folder } : place === undefined ? {} : { textDocument: place.textDocument };
      const captures = await knownCaptures(server, node?.folder, about);
      const pair = captures && (await choosePair(captures, node?.capture));
      if (pair === undefined) {
        return;
      }
      const uri = vscode.Uri.from({ scheme: SCHEME, path: `/captures ${pair[0].id} and ${pair[1].id}`, query: String(Date.now()) });
      texts.set(uri.toString(), await compared(server, about, place, pair));
      await vscode.window.showTextDocument(uri, { preview: true });
    }),
  );
}

async function compared(server: Server, about: object, place: Place | undefined, [before, after]: [Capture, Capture]): Promise<string> {
  const pair = { before: before.id, after: after.id };
  const whole = await server.request<Compared | null>("framedex/compareCaptures", { ...about, ...pair });
  const here = place && (await server.request<Compared | null>("framedex/compareCaptures", { ...place, ...pair }));
  const line = place && `${plain(vscode.Uri.parse(place.textDocument.uri).path, 1_000)}:${place.position.line + 1}`;
  return [
    `before  capture ${before.id}: ${plain(before.name)}, ${clock(before.started)}, ${count(before.calls, "call")}`,
    `after   capture ${after.id}: ${plain(after.name)}, ${clock(after.started)}, ${count(after.calls, "call")}`,
    ...(line === undefined ? [] : ["", `at ${line}`, ...(here ? table(here) : ["  neither passed this line"])]),
    "",
    "as a whole",
    ...(whole ? table(whole) : ["  one of them is not in the index any more"]),
    "",
  ].join("\n");
}

/** The boundary functions, those first whose time has changed most. */
function table({ boundaries }: Compared): string[] {
  const change = ({ before, after }: Compared["boundaries"][number]): number => after.duration - before.duration;
  const rows = [...boundaries]
    .sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)))
    .map((row) => [
      ...[plain(row.boundary), row.before.calls.toLocaleString("en"), row.after.calls.toLocaleString("en")],
      ...[row.before.durationText, row.after.durationText, row.differenceText],
    ]);
  const heads = ["function", "calls before", "after", "time before", "after", "difference"];
  const widths = heads.map((head, column) => Math.max(...[head, ...rows.map((row) => row[column] ?? "")].map((cell) => cell.length)));
  return [heads, ...rows].map((row) =>
    `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join("  ")}`.trimEnd(),
  );
}
