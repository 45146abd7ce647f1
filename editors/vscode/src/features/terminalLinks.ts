// Links in terminals for what VS Code does not link itself: `terminal/links.ts` finds them, the server their source.

import { stat } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { reasonOf, withoutIcons, withoutLinks } from "../plain";
import { ResolvedFrame } from "../server/protocol";
import { isPublic, open, openPublic } from "../show";
import { FrameLink, linksIn } from "../terminal/links";

type Frame = FrameLink["frame"];

class SourceLink extends vscode.TerminalLink {
  constructor(
    found: FrameLink,
    readonly folder: vscode.Uri | undefined,
  ) {
    super(found.start, found.length, "Open the source of this frame (framedex)");
    this.frame = found.frame;
  }

  readonly frame: Frame;
}

export function register(framedex: Framedex): vscode.Disposable {
  const provider: vscode.TerminalLinkProvider<SourceLink> = {
    async provideTerminalLinks({ line, terminal }) {
      const folder = workingFolder(terminal) ?? vscode.workspace.workspaceFolders?.[0]?.uri;
      const ours = await Promise.all(linksIn(line).map(async (link) => ((await isLinkedAnyway(link.frame, folder)) ? [] : [link])));
      return ours.flat().map((link) => new SourceLink(link, folder));
    },
    async handleTerminalLink({ frame, folder }) {
      await openFrame(framedex, frame, folder);
    },
  };
  return vscode.window.registerTerminalLinkProvider(provider);
}

/** Where the shell stands, as far as it tells (VS Code 1.93 and later). */
function workingFolder(terminal: vscode.Terminal & { shellIntegration?: { cwd?: vscode.Uri } }): vscode.Uri | undefined {
  return terminal.shellIntegration?.cwd;
}

/** Whether VS Code makes a link of this text itself: that wins nothing from ours. */
async function isLinkedAnyway(frame: Frame, folder: vscode.Uri | undefined): Promise<boolean> {
  if ("symbol" in frame || !frame.isNative || frame.path.startsWith("/proc/self/cwd/")) {
    return false;
  }
  try {
    return (await stat(path.resolve(folder?.fsPath ?? "/", frame.path))).isFile();
  } catch {
    return false;
  }
}

/** Opens the source of a frame that is named by its path or its symbol; of several places the reader picks one. */
export async function openFrame({ server }: Framedex, frame: Frame, folder: vscode.Uri | undefined): Promise<boolean> {
  const beside = folder?.scheme === "file" ? { textDocument: { uri: vscode.Uri.joinPath(folder, "terminal").toString() } } : {};
  const wanted = "symbol" in frame ? { symbol: frame.symbol } : { path: frame.path, line: frame.line };
  let resolved: ResolvedFrame | undefined;
  try {
    resolved = await server.request<ResolvedFrame>("framedex/resolveFrame", { ...wanted, ...beside });
  } catch (error) {
    return say(reasonOf(error));
  }
  if (resolved === undefined) {
    return say("The language server does not run, so frames cannot be looked up.");
  }
  const location = await pick(resolved.locations);
  if (location !== undefined) {
    const range = "column" in frame ? movedTo(location, frame.column) : location.range;
    return (await open({ uri: location.uri, range })) || say(`${vscode.Uri.parse(location.uri).fsPath} cannot be opened.`);
  }
  if (resolved.locations.length === 0) {
    void tellMissing(resolved);
  }
  return false;
}

async function pick(locations: ResolvedFrame["locations"]): Promise<ResolvedFrame["locations"][number] | undefined> {
  if (locations.length <= 1) {
    return locations[0];
  }
  const items = locations.map((location) => ({
    label: `${withoutIcons(path.basename(vscode.Uri.parse(location.uri).path))}:${location.range.start.line + 1}`,
    description: location.how,
    detail: withoutIcons(vscode.Uri.parse(location.uri).fsPath),
    location,
  }));
  const title = "framedex: the frame may be any of these";
  return (await vscode.window.showQuickPick(items, { title, matchOnDetail: true }))?.location;
}

async function tellMissing({ url, message }: ResolvedFrame): Promise<void> {
  const remedies = url !== null && isPublic(url) ? ["Open its public source"] : [];
  const told = `framedex: ${withoutLinks(message ?? "Its source is not known.", 1_000)}`;
  if ((await vscode.window.showWarningMessage(told, ...remedies)) !== undefined && url !== null) {
    await openPublic(url);
  }
}

/** The column that the text names, where there is one; else the first that is no blank. */
function movedTo({ range }: { range: ResolvedFrame["locations"][number]["range"] }, column: number): typeof range {
  const start = column > 1 ? { line: range.start.line, character: column - 1 } : range.start;
  return { start, end: start };
}

function say(message: string): false {
  void vscode.window.showWarningMessage(`framedex: ${withoutLinks(message, 1_000)}`);
  return false;
}
