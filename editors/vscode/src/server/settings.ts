// What the server is told of the settings: those that lead what is written, or a click, elsewhere are the user's alone.
//
// A workspace brings settings too, in `.vscode/settings.json`, and no scope in package.json keeps those from being merged
// that are written as `"framedex": {"index": ...}`.

import * as vscode from "vscode";
import { ConfigurationMiddleware, DidChangeConfigurationMiddleware } from "vscode-languageclient/node";

import { withUsersOwn } from "./usersOwn";

const SECTION = "framedex";

export const settingsOfTheUser: ConfigurationMiddleware & DidChangeConfigurationMiddleware = {
  configuration: async (params, token, next) => {
    const answers = await next(params, token);
    const users = (key: string): unknown => vscode.workspace.getConfiguration(SECTION).inspect(key)?.globalValue;
    return Array.isArray(answers)
      ? answers.map((answer, position) => (params.items[position]?.section === SECTION ? withUsersOwn(answer, users) : answer))
      : answers;
  },
  // The server asks when it is told that something has changed.
  didChangeConfiguration: (_, next) => next(undefined),
};
