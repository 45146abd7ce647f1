// The settings for the server. Only the user may set those that redirect written files or clicks.
//
// A workspace has settings too, in `.vscode/settings.json`. Scopes in package.json do not stop VS Code from merging
// settings that are written as `"framedex": {"index": ...}`.

import * as vscode from "vscode";
import { ConfigurationMiddleware, DidChangeConfigurationMiddleware } from "vscode-languageclient/node";

import { serverSettings } from "./serverSettings";

const SECTION = "framedex";

export const settingsOfTheUser: ConfigurationMiddleware & DidChangeConfigurationMiddleware = {
  configuration: async (params, token, next) => {
    const answers = await next(params, token);
    const userValue = (key: string): unknown => vscode.workspace.getConfiguration(SECTION).inspect(key)?.globalValue;
    return Array.isArray(answers)
      ? answers.map((answer, position) => (params.items[position]?.section === SECTION ? serverSettings(answer, userValue) : answer))
      : answers;
  },
  // The server requests the settings after this notification of a change.
  didChangeConfiguration: (_, next) => next(undefined),
};
