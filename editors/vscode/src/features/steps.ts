// Commands that step along a recorded stack, across languages, and their messages at its ends.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { reasonOf } from "../plain";
import { StackPosition } from "../server/protocol";
import { cursor, NO_LINE, open, Place } from "../show";
import { sayBriefly, sayWhy } from "../why";

const STEPS = ["stepIn", "stepOut", "nextStack", "previousStack"] as const;

type Step = (typeof STEPS)[number];

export function register(framedex: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    ...STEPS.map((step) => vscode.commands.registerCommand(`framedex.${step}`, () => guarded(() => take(framedex, step)))),
    vscode.commands.registerCommand("framedex.nextFrame", () => guarded(() => along(framedex, 1))),
    vscode.commands.registerCommand("framedex.previousFrame", () => guarded(() => along(framedex, -1))),
    vscode.commands.registerCommand("framedex.clearStack", () => framedex.picked.clear()),
  );
}

async function take(framedex: Framedex, step: Step): Promise<StackPosition | undefined> {
  const place = cursor() ?? placeOfFrame(framedex.picked.stack);
  if (place === undefined) {
    return say(NO_LINE);
  }
  const request = `framedex/${step}`;
  const reached = await framedex.picked.move(request, place);
  if (reached !== undefined) {
    return arrive(reached);
  }
  await sayWhy(framedex, request, place, () => guarded(() => take(framedex, step)));
  return undefined;
}

/** Goes to another frame of the selected stack, including glue and interpreter frames, if its source is on this machine. */
async function along(framedex: Framedex, by: 1 | -1): Promise<StackPosition | undefined> {
  const { picked } = framedex;
  const stack = picked.stack;
  const step = by === 1 ? "stepIn" : "stepOut";
  if (stack === undefined) {
    return take(framedex, step); // which picks one
  }
  for (let frame = stack.frame + by; frame >= 0 && frame < stack.frames; frame += by) {
    const reached = stack.stackFrames[frame]?.location ? await picked.move("framedex/selectFrame", { frame }) : undefined;
    if (reached !== undefined) {
      return arrive(reached);
    }
  }
  await sayWhy(framedex, `framedex/${step}`, placeOfFrame(stack));
  return undefined;
}

async function arrive(reached: StackPosition): Promise<StackPosition | undefined> {
  if (!(await open(reached.location))) {
    return say(`${vscode.Uri.parse(reached.location.uri).path} cannot be opened.`);
  }
  sayBriefly(reached.text);
  return reached;
}

function placeOfFrame(position: StackPosition | undefined): Place | undefined {
  const location = position?.location;
  return location && { textDocument: { uri: location.uri }, position: location.range.start };
}

async function guarded<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await step();
  } catch (error) {
    return say(reasonOf(error));
  }
}

function say(message: string): undefined {
  sayBriefly(message);
  return undefined;
}
