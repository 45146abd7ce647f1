// Entry point: starts the server and registers every feature.

import * as path from "node:path";
import * as vscode from "vscode";

import { CommandLine } from "./commandLine";
import * as activity from "./features/activity";
import * as calls from "./features/calls";
import * as captures from "./features/captures";
import * as compare from "./features/compare";
import * as costs from "./features/costs";
import * as flameGraph from "./features/flameGraph";
import * as highlight from "./features/highlight";
import * as howTo from "./features/howTo";
import * as indexing from "./features/indexing";
import * as install from "./features/install";
import * as lifecycle from "./features/lifecycle";
import * as problems from "./features/problems";
import * as record from "./features/record";
import * as recordedLines from "./features/recordedLines";
import * as statusBar from "./features/statusBar";
import * as steps from "./features/steps";
import * as terminalLinks from "./features/terminalLinks";
import * as traces from "./features/traces";
import * as uri from "./features/uri";
import * as ways from "./features/ways";
import { Feature, Framedex } from "./framedex";
import { OwnEnvironments } from "./install/environments";
import { StackSelection } from "./stackSelection";
import { Server } from "./server/server";

const FEATURES: readonly Feature[] = [
  ...[problems, lifecycle, install, statusBar, record, indexing],
  ...[captures, steps, ways, calls, highlight, recordedLines, terminalLinks, uri],
  ...[activity, traces, compare, costs, howTo, flameGraph],
];

/** Activates the extension without waiting for the server: features wait for it, or report that it is not running. */
export function activate(context: vscode.ExtensionContext): Framedex {
  const output = vscode.window.createOutputChannel("framedex", { log: true });
  const own = new OwnEnvironments(path.join(context.globalStorageUri.fsPath, "environments"));
  const server = new Server(output, own);
  const commandLine = new CommandLine(server);
  const stackSelection = new StackSelection(server);
  const framedex: Framedex = { context, output, server, own, commandLine, stackSelection };
  context.subscriptions.push(output, server, commandLine, stackSelection, ...FEATURES.map((feature) => feature.register(framedex)));
  void server.start();
  return framedex;
}
