// The appearance of nodes in the activity view. Names from captures appear only in plain-text labels and tooltips.

import * as path from "node:path";
import * as vscode from "vscode";

import { plain } from "../plain";
import { clock, count } from "../words";
import {
  AnswerNode,
  BoundaryNode,
  CallNode,
  CaptureNode,
  CostNode,
  FrameNode,
  GlueNode,
  IndexNode,
  isRebuildable,
  nodeKey,
  MoreCallsNode,
  Node,
  StackNode,
  CostStackNode,
} from "./nodes";

const MAX_TOOLTIP_LENGTH = 4_000;

/** Colours of languages, here and in the flame graph: chart colours exist in every theme. */
const PYTHON = new vscode.ThemeColor("charts.yellow");
const NATIVE = new vscode.ThemeColor("charts.blue");
const BOUNDARY = new vscode.ThemeColor("charts.purple");
const ERROR = new vscode.ThemeColor("list.errorForeground");
const WARNING = new vscode.ThemeColor("list.warningForeground");

const ANSWERS: Record<AnswerNode["answer"], { readonly title: string; readonly what: string; readonly icon: string }> = {
  compiles: { title: "Compiles", what: "Lines that compile, compile times, and what changed", icon: "tools" },
  transfers: { title: "Transfers", what: "Lines that move data between host and devices", icon: "arrow-swap" },
  memory: { title: "Memory", what: "Lines that hold device memory", icon: "chip" },
  waits: { title: "Waits", what: "Lines that wait for the runtime", icon: "watch" },
};

/** Facts about a node that are known only after its children were listed. */
export interface ListedFacts {
  /** The number of a capture's calls that match the filter, if a filter is set. */
  readonly matchingCalls?: number | undefined;
  /** The total of all lines of an answer. */
  readonly total?: string | undefined;
}

export function createItem(node: Node, known: ListedFacts): vscode.TreeItem {
  const item = createItemOfKind(node, known);
  item.id = nodeKey(node);
  item.contextValue = contextValue(node);
  if (item.command !== undefined) {
    item.command = { ...item.command, arguments: [node] };
  }
  item.accessibilityInformation = { label: [labelOf(item), String(item.description ?? "")].filter(Boolean).join(", ") };
  return item;
}

function createItemOfKind(node: Node, { matchingCalls, total }: ListedFacts): vscode.TreeItem {
  switch (node.kind) {
    case "index":
      return indexItem(node);
    case "capture":
      return captureItem(node, matchingCalls);
    case "answer":
      return answerItem(node, total);
    case "cost":
      return costItem(node);
    case "way":
      return costStackItem(node);
    case "boundary":
      return boundaryItem(node);
    case "call":
      return callItem(node);
    case "note":
      return new vscode.TreeItem(node.text);
    case "more":
      return moreItem(node);
    case "stack":
      return stackItem(node);
    case "glue":
      return glueItem(node);
    case "frame":
      return frameItem(node);
  }
}

/** Context values for menus. */
function contextValue(node: Node): string {
  if (node.kind === "capture") {
    return node.isPicked ? "capture.picked" : "capture";
  }
  if (node.kind === "index") {
    return isRebuildable(node) ? "index.damaged" : "index";
  }
  if (node.kind === "frame") {
    const { location, url } = node.frame;
    return location !== null ? "frame.here" : url !== null ? "frame.public" : "frame";
  }
  return node.kind;
}

function labelOf(item: vscode.TreeItem): string {
  return typeof item.label === "string" ? item.label : (item.label?.label ?? "");
}

function indexItem({ index }: IndexNode): vscode.TreeItem {
  const label = plain(path.basename(index.folder) || index.folder);
  if (index.problem !== null) {
    const item = new vscode.TreeItem(label);
    // The row is short and already shows the folder, so the index's path is left out.
    item.description = plain((index.problem.split("\n")[0] ?? "").replace(`The index ${index.index} `, ""));
    item.tooltip = lines([index.folder, ...index.problem.split("\n")]);
    item.command = { command: "framedex.activity.tellProblem", title: "Show the problem and its remedy" };
    item.iconPath = new vscode.ThemeIcon("warning", WARNING);
    return item;
  }
  const item = folder(label, vscode.TreeItemCollapsibleState.Expanded);
  item.description = count(index.captures.length, "capture");
  item.tooltip = plain(index.index, MAX_TOOLTIP_LENGTH);
  item.iconPath = new vscode.ThemeIcon("database");
  return item;
}

function captureItem({ capture, isPicked }: CaptureNode, matchingCalls: number | undefined): vscode.TreeItem {
  const item = folder(plain(capture.name));
  const calls = `${matchingCalls === undefined ? "" : `${matchingCalls.toLocaleString("en")} of `}${count(capture.calls, "call")}`;
  item.description = `capture ${capture.id}${isPicked ? ", picked" : ""}, ${calls}`;
  item.tooltip = lines([
    `capture ${capture.id}: ${capture.command}`,
    `${count(capture.calls, "call")} with ${count(capture.stacks, "stack")}, begun ${clock(capture.started)}`,
    capture.path,
    isPicked ? "Answers cover only this capture." : "",
  ]);
  item.iconPath = new vscode.ThemeIcon(isPicked ? "check" : "history");
  return item;
}

function answerItem({ answer }: AnswerNode, total: string | undefined): vscode.TreeItem {
  const { title, what, icon } = ANSWERS[answer];
  const item = folder(title);
  item.description = plain(total ?? "");
  item.tooltip = lines([what, total ?? ""]);
  item.iconPath = new vscode.ThemeIcon(icon);
  return item;
}

function costItem({ cost }: CostNode): vscode.TreeItem {
  const item = folder(plain(path.posix.basename(cost.place)));
  item.description = plain(cost.text);
  item.tooltip = lines([
    cost.function ? `${cost.place} in ${cost.function}` : cost.place,
    cost.stale ?? "",
    cost.text,
    ...cost.details,
  ]);
  item.iconPath = new vscode.ThemeIcon("symbol-method", PYTHON);
  item.command = { command: "framedex.activity.openCost", title: "Open the line" };
  return item;
}

function costStackItem({ way }: CostStackNode): vscode.TreeItem {
  const [nearest] = way.outward;
  const from = nearest && `from ${nearest.function}, ${path.posix.basename(nearest.place)}`;
  const item = new vscode.TreeItem(plain(from ?? `call ${way.call}`));
  item.description = plain(way.text);
  item.tooltip = lines([way.text, ...way.outward.map((line) => `from ${line.function}, ${line.place}`), `latest call ${way.call}`]);
  item.iconPath = new vscode.ThemeIcon("layers");
  item.command = { command: "framedex.activity.openWay", title: "Open the trace of the latest call" };
  return item;
}

function boundaryItem({ boundary }: BoundaryNode): vscode.TreeItem {
  const item = folder(plain(boundary.function));
  item.description = `${count(boundary.calls, "call")}, ${boundary.durationText}`;
  item.tooltip = lines([
    `${boundary.function} (${boundary.boundary})`,
    `${count(boundary.calls, "call")} took ${boundary.durationText}, ${boundary.averageText} each`,
  ]);
  item.iconPath = new vscode.ThemeIcon("symbol-interface", BOUNDARY);
  return item;
}

function callItem({ call }: CallNode): vscode.TreeItem {
  const given = call.arguments || "no arguments";
  const item = folder(`call ${call.id}`);
  item.description = plain(`${call.durationText}  ${call.outcome ? `${given} → ${call.outcome}` : given}`);
  item.tooltip = lines([
    `call ${call.id}: ${call.function}`,
    `arguments: ${given}`,
    call.outcome && `${call.error > 0 ? "error" : "result"}: ${call.outcome}`,
    `${call.durationText}, begun after ${call.startText}, thread ${call.thread}`,
  ]);
  item.iconPath = call.error > 0 ? new vscode.ThemeIcon("error", ERROR) : new vscode.ThemeIcon("symbol-event");
  item.command = { command: "framedex.activity.openTrace", title: "Open the trace" };
  return item;
}

function moreItem({ parent, shown, next }: MoreCallsNode): vscode.TreeItem {
  const left = parent.boundary.calls - shown;
  const item = new vscode.TreeItem(`${next.toLocaleString("en")} more of ${parent.boundary.calls.toLocaleString("en")}`);
  item.iconPath = new vscode.ThemeIcon("ellipsis");
  item.tooltip = `${count(left, "call")} not shown yet`;
  item.command = { command: "framedex.activity.showMore", title: "Show more calls" };
  return item;
}

function stackItem({ title, reason, frames }: StackNode): vscode.TreeItem {
  const item = folder(plain(title), vscode.TreeItemCollapsibleState.Expanded);
  item.description = count(frames.length, "frame");
  item.tooltip = lines([title, reason ?? ""]);
  item.iconPath = new vscode.ThemeIcon("layers");
  return item;
}

function glueItem({ frames }: GlueNode): vscode.TreeItem {
  const item = folder(`${count(frames.length, "glue frame")} hidden`);
  item.tooltip = lines(["Frames of the interpreter and glue between languages:", ...frames.map((frame) => frame.function)]);
  item.iconPath = new vscode.ThemeIcon("fold");
  return item;
}

function frameItem({ frame }: FrameNode): vscode.TreeItem {
  const item = new vscode.TreeItem(plain(frame.function));
  const place = frame.location && `${path.posix.basename(pathOf(frame.location.uri))}:${frame.location.range.start.line + 1}`;
  const how = frame.how !== null && frame.how !== "exact" ? ` [${frame.how}]` : "";
  const elsewhere = frame.publicPlace && `${frame.publicPlace} [not here]`;
  const shown = place ? `${place}${how}` : elsewhere ? path.posix.basename(elsewhere) : path.basename(frame.module);
  item.description = plain(shown);
  item.tooltip = lines([
    `frame ${frame.number}: ${frame.function}`,
    frame.location ? `${pathOf(frame.location.uri)}:${frame.location.range.start.line + 1}${how}` : (elsewhere ?? "The source is not on this machine."),
    frame.url ?? "",
    frame.module,
  ]);
  item.iconPath = new vscode.ThemeIcon("symbol-method", frame.language === "python" ? PYTHON : NATIVE);
  item.command = { command: "framedex.activity.openFrame", title: "Open the frame" };
  return item;
}

function folder(label: string, state = vscode.TreeItemCollapsibleState.Collapsed): vscode.TreeItem {
  return new vscode.TreeItem(label, state);
}

function lines(texts: readonly string[]): string {
  return texts
    .filter((text) => text !== "")
    .map((text) => plain(text, MAX_TOOLTIP_LENGTH))
    .join("\n");
}

function pathOf(uri: string): string {
  return vscode.Uri.parse(uri).path;
}
