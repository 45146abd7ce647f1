// Captures in lists to choose from.

import * as vscode from "vscode";

import { withoutIcons } from "./plain";
import { Capture } from "./server/protocol";
import { clock, count } from "./words";

export interface CaptureItem extends vscode.QuickPickItem {
  readonly capture: Capture;
}

export function captureItem(capture: Capture): CaptureItem {
  return {
    label: withoutIcons(capture.name),
    description: count(capture.calls, "call"),
    detail: withoutIcons(`capture ${capture.id}, ${clock(capture.started)}  ${capture.path}`),
    capture,
  };
}
