// Commands of the server for which VS Code has its own views.

import * as vscode from "vscode";
import { ExecuteCommandMiddleware } from "vscode-languageclient/node";

import { placeIn } from "../show";
import { Captures, ListedIndex } from "./protocol";

/** Opens the comparison for `framedex.compareCaptures`, instead of showing a message. */
export function withOwnViews(ask: <Answer>(method: string, about?: object) => Promise<Answer | undefined>): ExecuteCommandMiddleware {
  return {
    executeCommand: async (command, given: unknown[], next) => {
      const about = command === "framedex.compareCaptures" ? placeIn(given[0]) : undefined;
      const known = about && (await ask<Captures | null>("framedex/captures", about));
      const { before, after } = (given[0] ?? {}) as { before?: unknown; after?: unknown };
      const [first, second] = [before, after].map((id) => known?.captures.find((capture) => capture.id === id));
      if (known === undefined || known === null || first === undefined || second === undefined) {
        return next(command, given);
      }
      const listed = await ask<{ indexes: ListedIndex[] }>("framedex/indexes");
      const folder = listed?.indexes.find(({ index }) => index === known.index)?.folder;
      return folder === undefined
        ? next(command, given)
        : vscode.commands.executeCommand("framedex.compare", { folder, before: first, after: second });
    },
  };
}
