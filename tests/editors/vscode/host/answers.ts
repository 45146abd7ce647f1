// Not a test: times answers at the client, for `python -m benchmarks vscode-answers`.

import { writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import * as vscode from "vscode";

import { running } from "./framedex";
import { until } from "./runner";

const ROUNDS = 10;
const LENSES = 20;

/** Writes the milliseconds of each kind of answer beside this file. The window is on a folder with large.py. */
export async function run(): Promise<void> {
  const framedex = await running();
  const large = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, "large.py");
  await vscode.window.showTextDocument(large);
  const places = await recordedPlaces(large);
  const definition = (place: vscode.Position) => ask("vscode.executeDefinitionProvider", large, place);
  const hover = (place: vscode.Position) => ask("vscode.executeHoverProvider", large, place);
  const lenses = () => ask("vscode.executeCodeLensProvider", large);
  const first: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await framedex.server.stop();
    const begin = performance.now();
    await framedex.server.start();
    await until("an answer", async () => (await definition(places[round]!)).length || undefined);
    first.push(performance.now() - begin);
  }
  const times = {
    first,
    definition: await timesOf(places, definition),
    hover: await timesOf(places, hover),
    lenses: await timesOf([...Array(LENSES).keys()], lenses),
    shown: (await lenses()).length,
    lines: (await vscode.workspace.openTextDocument(large)).lineCount,
  };
  writeFileSync(`${__filename}.json`, JSON.stringify(times));
}

/** The places of the recorded calls in a file, once it has some. */
async function recordedPlaces(file: vscode.Uri): Promise<vscode.Position[]> {
  const text = (await vscode.workspace.openTextDocument(file)).getText();
  const lines = text.split("\n").flatMap((line, number) => (line.includes("device_put") ? [[number, line.indexOf("device_put")]] : []));
  const places = lines.map(([line, character]) => new vscode.Position(line!, character!));
  await until("the index", async () => (await ask("vscode.executeDefinitionProvider", file, places[0]!)).length || undefined);
  return places;
}

/** The milliseconds of a question about each of these; an answer that is empty is an error. */
async function timesOf<Subject>(subjects: readonly Subject[], question: (about: Subject) => Thenable<readonly unknown[]>): Promise<number[]> {
  const found: number[] = [];
  for (const subject of subjects) {
    const begin = performance.now();
    const answer = await question(subject);
    found.push(performance.now() - begin);
    if (answer.length === 0) {
      throw new Error(`no answer about ${JSON.stringify(subject)}`);
    }
  }
  return found;
}

async function ask(command: string, ...about: unknown[]): Promise<readonly unknown[]> {
  return (await vscode.commands.executeCommand<unknown[]>(command, ...about)) ?? [];
}
