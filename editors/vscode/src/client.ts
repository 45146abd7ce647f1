// The language client: which program is started, and for which documents it is asked.

import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const LANGUAGES = ["python", "c", "cpp", "framedex-trace"];

export function createClient(serverPath: string): LanguageClient {
  const server: ServerOptions = { command: serverPath, args: ["serve"] };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
  };
  return new LanguageClient("framedex", "framedex", server, options);
}
