// “Compare captures”: the lines that differ between two captures, in a panel for each pair.

import * as vscode from "vscode";

import { CaptureNode } from "../activity/nodes";
import { CapturePair, choosePair } from "../capturePair";
import { Comparison } from "../compare/messages";
import { COMPARE_VIEW, fill } from "../compare/panel";
import { Framedex } from "../framedex";
import { Panels } from "../panels";
import { cursor } from "../show";

export function register(framedex: Framedex): vscode.Disposable {
  const panels = new Panels<Comparison>(framedex, COMPARE_VIEW, (panel, subject) => fill(panel, subject, framedex), isComparison);
  return vscode.Disposable.from(
    panels,
    // An editor's menu passes the file, a code action the pair of captures.
    vscode.commands.registerCommand("framedex.compare", async (given?: CaptureNode | CapturePair | vscode.Uri) => {
      const asked = given instanceof vscode.Uri ? undefined : given;
      const place = asked === undefined || "before" in asked ? cursor() : undefined;
      const pair = asked !== undefined && "before" in asked ? asked : await choosePair(framedex, asked);
      if (pair === undefined) {
        return;
      }
      const { folder, before, after } = pair;
      const here = place && { uri: place.textDocument.uri, line: place.position.line };
      panels.open({ folder, before: before.id, after: after.id, ...(here && { here }) }, `Compare captures ${before.id} → ${after.id}`);
    }),
  );
}

function isComparison(subject: unknown): subject is Comparison {
  const { folder, before, after } = (subject ?? {}) as Partial<Comparison>;
  return typeof folder === "string" && typeof before === "number" && typeof after === "number";
}
