// The objects that every feature gets.

import * as vscode from "vscode";

import { CommandLine } from "./commandLine";
import { OwnEnvironments } from "./install/environments";
import { StackSelection } from "./stackSelection";
import { Server } from "./server/server";

export interface Framedex {
  readonly context: vscode.ExtensionContext;
  readonly output: vscode.LogOutputChannel;
  readonly server: Server;
  readonly own: OwnEnvironments;
  readonly commandLine: CommandLine;
  readonly stackSelection: StackSelection;
}

/** Registers a feature; returns a disposable that removes it. */
export interface Feature {
  register(framedex: Framedex): vscode.Disposable;
}
