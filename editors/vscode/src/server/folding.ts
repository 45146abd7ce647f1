// Folds the glue frames of a trace document when it opens.

import * as vscode from "vscode";
import { Middleware } from "vscode-languageclient/node";

import { TRACE_LANGUAGE } from "../traces";

/** VS Code folds only imports by itself, if the language's settings say so; so runs of glue have that kind. */
export const foldingGlue: Pick<Middleware, "provideFoldingRanges"> = {
  async provideFoldingRanges(document, context, token, next) {
    const ranges = await next(document, context, token);
    return document.languageId === TRACE_LANGUAGE ? ranges?.map(folded) : ranges;
  },
};

/** Ranges of whole stacks have a kind. */
function folded(range: vscode.FoldingRange): vscode.FoldingRange {
  return range.kind === undefined ? new vscode.FoldingRange(range.start, range.end, vscode.FoldingRangeKind.Imports) : range;
}
