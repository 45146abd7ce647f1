// Shows the selected stack and the current frame in the visible editors: gutter, line and overview ruler.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { Frame, SelectedStack } from "../server/protocol";

export function register({ context, stackSelection }: Framedex): vscode.Disposable {
  const media = (name: string) => vscode.Uri.joinPath(context.extensionUri, "media", name);
  const icons = (name: string) => ({
    light: { gutterIconPath: media(`${name}-light.svg`) },
    dark: { gutterIconPath: media(`${name}-dark.svg`) },
  });
  const background = new vscode.ThemeColor("framedex.stackLineBackground");
  const ruler = new vscode.ThemeColor("framedex.stackLineRuler");
  const common: vscode.DecorationRenderOptions = {
    isWholeLine: true,
    overviewRulerColor: ruler,
    overviewRulerLane: vscode.OverviewRulerLane.Full,
    gutterIconSize: "contain",
  };
  const frame = vscode.window.createTextEditorDecorationType({ ...common, ...icons("frame"), backgroundColor: background });
  const current = vscode.window.createTextEditorDecorationType({
    ...common,
    ...icons("frame-current"),
    backgroundColor: new vscode.ThemeColor("framedex.currentFrameBackground"),
    after: { color: new vscode.ThemeColor("framedex.frameNumberForeground"), margin: "0 0 0 3ch", fontStyle: "italic" },
  });
  const show = () => {
    for (const editor of vscode.window.visibleTextEditors) {
      const marks = findMarks(editor.document.uri, stackSelection.stack);
      editor.setDecorations(frame, marks.others);
      editor.setDecorations(current, marks.current);
    }
  };
  return vscode.Disposable.from(
    frame,
    current,
    stackSelection.onDidChange(show),
    vscode.window.onDidChangeVisibleTextEditors(() => {
      show();
      // Edits may have moved the lines: the server has their current positions.
      void stackSelection.check();
    }),
  );
}

/** The marks in a document: the current frame, and the other lines of the stack. */
export function findMarks(
  uri: vscode.Uri,
  stack: SelectedStack | undefined,
): { current: vscode.DecorationOptions[]; others: vscode.Range[] } {
  const framesInDocument = stack === undefined ? [] : stack.stackFrames.filter((each) => each.location && isInDocument(each, uri));
  const currentFrame = stack?.stackFrames[stack.frame];
  const currentLine = currentFrame?.location && isInDocument(currentFrame, uri) ? currentFrame.location.range.start.line : undefined;
  const lines = new Set(framesInDocument.map((each) => each.location?.range.start.line ?? 0).filter((line) => line !== currentLine));
  return {
    current: currentLine === undefined || stack === undefined ? [] : [currentMark(currentLine, stack)],
    others: [...lines].map(wholeLine),
  };
}

function currentMark(line: number, stack: SelectedStack): vscode.DecorationOptions {
  const contentText = `frame ${stack.frame + 1} of ${stack.frames}`;
  return { range: wholeLine(line), renderOptions: { after: { contentText } } };
}

/** The range of a whole line, so that inline text appears after its end. */
function wholeLine(line: number): vscode.Range {
  return new vscode.Range(line, 0, line, Number.MAX_SAFE_INTEGER);
}

function isInDocument(frame: Frame, uri: vscode.Uri): boolean {
  return frame.location !== null && vscode.Uri.parse(frame.location.uri).toString() === uri.toString();
}
