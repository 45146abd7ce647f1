// The language client: the documents that the server handles, and the capabilities of this editor.

import * as vscode from "vscode";
import {
  ClientCapabilities,
  DocumentFilter,
  ErrorHandler,
  LanguageClient,
  LanguageClientOptions,
  Middleware,
  ServerOptions,
  StaticFeature,
} from "vscode-languageclient/node";

import { framedexEnvironment } from "./environment";
import { foldGlueMiddleware } from "./folding";
import { ServerCommand } from "./locate";
import { settingsOfTheUser } from "./settings";

/** The commands that the server's hovers may link to; its Markdown cannot run any other command. */
const LINKED_COMMANDS = ["framedex.openTrace", "framedex.showCalls", "framedex.showCosts", "framedex.openHowTo", "framedex.openGuidebook"];

const SOURCE_LANGUAGES = ["python", "c", "cpp", "cuda-cpp"];
// Documents in which stacks are searched, including new documents with pasted text and documents from the server.
const TEXT_LANGUAGES = ["framedex-trace", "log", "plaintext", "mlir"];
const TEXT_SCHEMES = ["file", "untitled", "framedex-trace"];

export function createClient(
  { command, arguments: before }: ServerCommand,
  output: vscode.LogOutputChannel,
  errorHandler: ErrorHandler,
  middleware: Middleware,
): LanguageClient {
  const server: ServerOptions = { command, args: [...before, "serve"], options: { env: framedexEnvironment() } };
  const sources: DocumentFilter[] = SOURCE_LANGUAGES.map((language) => ({ scheme: "file", language }));
  const texts: DocumentFilter[] = TEXT_SCHEMES.flatMap((scheme) => TEXT_LANGUAGES.map((language) => ({ scheme, language })));
  const options: LanguageClientOptions = {
    documentSelector: [...sources, ...texts],
    outputChannel: output,
    errorHandler,
    middleware: { ...middleware, ...foldGlueMiddleware, workspace: settingsOfTheUser },
    markdown: { isTrusted: { enabledCommands: LINKED_COMMANDS }, supportHtml: false },
  };
  const client = new LanguageClient("framedex", "framedex", server, options);
  client.registerFeature(new FramedexCapabilities());
  return client;
}

class FramedexCapabilities implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    const framedex = { commandLinks: LINKED_COMMANDS, indexChanges: true, led: true };
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), framedex };
  }

  getState(): { kind: "static" } {
    return { kind: "static" };
  }

  initialize(): void {}

  clear(): void {}
}
