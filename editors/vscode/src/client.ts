// The language client: which program is started, and for which documents it is asked.

import { DocumentFilter, LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const SOURCES = ["python", "c", "cpp"];
// Texts in which stacks are looked for: also pasted into a new document, or made by the server.
const TEXTS = ["framedex-trace", "log", "plaintext", "mlir"];
const SCHEMES_OF_TEXTS = ["file", "untitled", "framedex-trace"];

export function createClient(serverPath: string): LanguageClient {
  const server: ServerOptions = { command: serverPath, args: ["serve"] };
  const sources: DocumentFilter[] = SOURCES.map((language) => ({ scheme: "file", language }));
  const texts: DocumentFilter[] = SCHEMES_OF_TEXTS.flatMap((scheme) => TEXTS.map((language) => ({ scheme, language })));
  const options: LanguageClientOptions = { documentSelector: [...sources, ...texts] };
  return new LanguageClient("framedex", "framedex", server, options);
}
