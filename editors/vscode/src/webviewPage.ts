// The HTML of a webview: one bundle of script and style from dist/, and no other resources.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/** A page with the bundle `name` (`flame`: dist/flame.js and dist/flame.css) around a body. */
export function webviewPage(webview: vscode.Webview, dist: vscode.Uri, name: string, title: string, body: string): string {
  const nonce = randomBytes(16).toString("base64");
  const file = (suffix: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, `${name}.${suffix}`)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <link rel="stylesheet" href="${file("css")}">
  <title>${escaped(title)}</title>
</head>
<body>
${body}
  <script nonce="${nonce}" src="${file("js")}"></script>
</body>
</html>`;
}

/** Escapes a text for HTML, including attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
