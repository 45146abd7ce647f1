// What is said of a line through which no call is known: none was recorded, or not in the capture that is picked.

import * as vscode from "vscode";

import { sayNothingRecorded } from "./captureItems";
import { Framedex } from "./framedex";
import { plain } from "./plain";
import { inform, warn } from "./remedies";
import { Captures, Elsewhere, ListedStack } from "./server/protocol";
import { Place } from "./show";
import { count, shortCommand } from "./words";

const SHOWN_FOR = 5_000;

/** Says why a line has no calls; `again` asks anew once all captures answer, if the reader chooses so. */
export async function sayNoCalls({ picked, server }: Framedex, place: Place | undefined, again: () => unknown): Promise<void> {
  const about = place === undefined ? {} : { textDocument: place.textDocument };
  if (!(await server.ready())) {
    void warn("The language server does not run.");
    return;
  }
  const known = await server.request<Captures | null>("framedex/captures", about);
  if (!known || known.captures.length === 0) {
    return sayNothingRecorded();
  }
  const answer = place && (await server.request<ListedStack[] | Elsewhere>("framedex/stacks", place));
  const alone = known.captures.find(({ id }) => id === known.selected);
  if (answer === undefined || !("elsewhere" in answer) || alone === undefined) {
    vscode.window.setStatusBarMessage("framedex: No recorded call went through this line.", SHOWN_FOR);
    return;
  }
  const name = `capture ${alone.id} (${plain(shortCommand(alone.command), 60)})`;
  const others = `${count(answer.elsewhere, "call")} of other captures did`;
  void inform(`No call of ${name} went through this line; ${others}. It is picked, so answers are of it alone.`, {
    "Answer from all captures": async () => {
      await picked.answerFrom(null, about);
      await again();
    },
  });
}
