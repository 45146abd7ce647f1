// Folds the glue frames of a trace document when it opens.

import * as vscode from "vscode";
import { Middleware } from "vscode-languageclient/node";

import { TRACE_LANGUAGE } from "../traces";

/** VS Code can fold imports when a document opens, and nothing else. So runs of glue get the kind `Imports`. */
export const foldGlueMiddleware: Pick<Middleware, "provideFoldingRanges"> = {
  async provideFoldingRanges(document, context, token, next) {
    const ranges = await next(document, context, token);
    return document.languageId === TRACE_LANGUAGE ? ranges?.map(foldOnOpen) : ranges;
  },
};

/** Changes ranges without a kind, which are runs of glue; whole stacks have one. */
function foldOnOpen(range: vscode.FoldingRange): vscode.FoldingRange {
  return range.kind === undefined ? new vscode.FoldingRange(range.start, range.end, vscode.FoldingRangeKind.Imports) : range;
}
