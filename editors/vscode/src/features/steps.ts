// Commands that step along a recorded stack across languages, and the messages at the ends of the stack.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { errorReason } from "../plain";
import { StackPosition } from "../server/protocol";
import { cursor, NO_LINE, open, Place } from "../show";
import { showInStatusBar, showEmptyAnswerReason } from "../why";

const STEPS = ["stepIn", "stepOut", "nextStack", "previousStack"] as const;

type Step = (typeof STEPS)[number];

export function register(framedex: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    ...STEPS.map((step) => vscode.commands.registerCommand(`framedex.${step}`, () => showErrors(() => takeStep(framedex, step)))),
    vscode.commands.registerCommand("framedex.nextFrame", () => showErrors(() => moveAlongStack(framedex, 1))),
    vscode.commands.registerCommand("framedex.previousFrame", () => showErrors(() => moveAlongStack(framedex, -1))),
    vscode.commands.registerCommand("framedex.clearStack", () => framedex.stackSelection.clear()),
  );
}

async function takeStep(framedex: Framedex, step: Step): Promise<StackPosition | undefined> {
  const place = cursor() ?? placeOfFrame(framedex.stackSelection.stack);
  if (place === undefined) {
    return showMessage(NO_LINE);
  }
  const request = `framedex/${step}`;
  const reached = await framedex.stackSelection.move(request, place);
  if (reached !== undefined) {
    return showReached(reached);
  }
  await showEmptyAnswerReason(framedex, request, place, () => showErrors(() => takeStep(framedex, step)));
  return undefined;
}

/** Goes to another frame of the selected stack, including glue and interpreter frames, if its source is on this machine. */
async function moveAlongStack(framedex: Framedex, by: 1 | -1): Promise<StackPosition | undefined> {
  const { stackSelection } = framedex;
  const stack = stackSelection.stack;
  const step = by === 1 ? "stepIn" : "stepOut";
  if (stack === undefined) {
    return takeStep(framedex, step); // the step selects a stack
  }
  for (let frame = stack.frame + by; frame >= 0 && frame < stack.frames; frame += by) {
    const reached = stack.stackFrames[frame]?.location ? await stackSelection.move("framedex/selectFrame", { frame }) : undefined;
    if (reached !== undefined) {
      return showReached(reached);
    }
  }
  await showEmptyAnswerReason(framedex, `framedex/${step}`, placeOfFrame(stack));
  return undefined;
}

async function showReached(reached: StackPosition): Promise<StackPosition | undefined> {
  if (!(await open(reached.location))) {
    return showMessage(`${vscode.Uri.parse(reached.location.uri).path} cannot be opened.`);
  }
  showInStatusBar(reached.text);
  return reached;
}

function placeOfFrame(position: StackPosition | undefined): Place | undefined {
  const location = position?.location;
  return location && { textDocument: { uri: location.uri }, position: location.range.start };
}

async function showErrors<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await step();
  } catch (error) {
    return showMessage(errorReason(error));
  }
}

function showMessage(message: string): undefined {
  showInStatusBar(message);
  return undefined;
}
