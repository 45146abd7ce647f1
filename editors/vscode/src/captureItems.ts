// Captures in lists to choose from.

import * as vscode from "vscode";

import { withoutIcons } from "./plain";
import { Capture } from "./server/protocol";
import { clock, count, shortCommand } from "./words";

export interface CaptureItem extends vscode.QuickPickItem {
  readonly capture: Capture;
}

export function captureItem(capture: Capture): CaptureItem {
  return {
    label: withoutIcons(shortCommand(capture.command)),
    description: count(capture.calls, "call"),
    detail: withoutIcons(`capture ${capture.id}, ${clock(capture.started)}  ${capture.path}`),
    capture,
  };
}

export function sayNothingRecorded(): void {
  void vscode.window.showInformationMessage("framedex: Nothing has been recorded here yet: run “framedex: Record this file”.");
}
