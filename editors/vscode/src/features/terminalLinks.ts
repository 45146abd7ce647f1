// Terminal links for frames that VS Code does not link itself: `terminal/links.ts` finds them, the server finds their source.

import { stat } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { openNamed } from "../namedFrame";
import { FrameLink, findLinks } from "../terminal/links";

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
      const frameLinks = await Promise.all(findLinks(line).map(async (link) => ((await isLinkedByEditor(link.frame, folder)) ? [] : [link])));
      return frameLinks.flat().map((link) => new SourceLink(link, folder));
    },
    async handleTerminalLink({ frame, folder }) {
      await openNamed(framedex, frame, folder);
    },
  };
  return vscode.window.registerTerminalLinkProvider(provider);
}

/** The shell's working folder, if known (VS Code 1.93 and later). */
function workingFolder(terminal: vscode.Terminal & { shellIntegration?: { cwd?: vscode.Uri } }): vscode.Uri | undefined {
  return terminal.shellIntegration?.cwd;
}

/** Whether VS Code links this text itself; our link would replace it, so it is left out. */
async function isLinkedByEditor(frame: Frame, folder: vscode.Uri | undefined): Promise<boolean> {
  if ("symbol" in frame || !frame.isNative || frame.path.startsWith("/proc/self/cwd/")) {
    return false;
  }
  try {
    return (await stat(path.resolve(folder?.fsPath ?? "/", frame.path))).isFile();
  } catch {
    return false;
  }
}
