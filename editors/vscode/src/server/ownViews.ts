// Commands of the server for which VS Code has its own views.

import * as vscode from "vscode";
import { ExecuteCommandMiddleware } from "vscode-languageclient/node";

import { placeIn } from "../show";
import { Captures, ListedIndex } from "./protocol";

/** Opens the comparison for `framedex.compareCaptures`, instead of showing a message. */
export function openCommandsInViews(request: <Answer>(method: string, position?: object) => Promise<Answer | undefined>): ExecuteCommandMiddleware {
  return {
    executeCommand: async (command, given: unknown[], next) => {
      const position = command === "framedex.compareCaptures" ? placeIn(given[0]) : undefined;
      const captures = position && (await request<Captures | null>("framedex/captures", position));
      const { before, after } = (given[0] ?? {}) as { before?: unknown; after?: unknown };
      const [first, second] = [before, after].map((id) => captures?.captures.find((capture) => capture.id === id));
      if (captures === undefined || captures === null || first === undefined || second === undefined) {
        return next(command, given);
      }
      const answer = await request<{ indexes: ListedIndex[] }>("framedex/indexes");
      const folder = answer?.indexes.find(({ index }) => index === captures.index)?.folder;
      return folder === undefined
        ? next(command, given)
        : vscode.commands.executeCommand("framedex.compare", { folder, before: first, after: second });
    },
  };
}
