// Glue frames of a trace document are folded as soon as it is opened.

import * as vscode from "vscode";
import { Middleware } from "vscode-languageclient/node";

import { TRACE_LANGUAGE } from "../traces";

/** The only ranges that VS Code folds by itself are imports, where the language's settings say so: runs of glue are such. */
export const foldingGlue: Pick<Middleware, "provideFoldingRanges"> = {
  async provideFoldingRanges(document, context, token, next) {
    const ranges = await next(document, context, token);
    return document.languageId === TRACE_LANGUAGE ? ranges?.map(folded) : ranges;
  },
};

/** Whole stacks have a kind. */
function folded(range: vscode.FoldingRange): vscode.FoldingRange {
  return range.kind === undefined ? new vscode.FoldingRange(range.start, range.end, vscode.FoldingRangeKind.Imports) : range;
}
