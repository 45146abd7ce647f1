// The page of a flame graph: draws what the extension sends, outermost frames at the top.

import { FromPage, Graph, PageState, Subject, ToPage, Weight } from "../messages";
import { count } from "../../words";
import { FlameChart, SearchResult } from "./chart";
import "./flame.css";
import { Datum, describe, percent, buildTree } from "./tree";

declare function acquireVsCodeApi(): {
  postMessage(message: FromPage): void;
  setState(state: PageState): void;
  getState(): PageState | undefined;
};

const vscode = acquireVsCodeApi();
const given = JSON.parse(element("chart").dataset["subject"] ?? "null") as Subject;
const savedState = vscode.getState();
let weight: Weight = savedState?.weight ?? "duration";
let glue = savedState?.glue ?? false;
let graph: Graph | undefined;

const search = element<HTMLInputElement>("search");
const chart = new FlameChart(element("chart"), { picked: showDetails, wanted: openSource });
search.value = savedState?.search ?? "";

function show(message: ToPage): void {
  element("nothing").hidden = message.kind !== "nothing";
  element("nothing").textContent = message.kind === "nothing" ? message.reason : "";
  graph = message.kind === "graph" ? message.graph : undefined;
  element("title").textContent = message.subject.title;
  draw();
  // A newly opened graph takes the keyboard focus. A graph in the background does not.
  if (document.hasFocus() && document.activeElement === document.body) {
    element("chart").focus();
  }
}

function draw(): void {
  element("weight-duration").setAttribute("aria-pressed", String(weight === "duration"));
  element("weight-calls").setAttribute("aria-pressed", String(weight === "calls"));
  element("glue").setAttribute("aria-pressed", String(!glue));
  element("summary").textContent = graph === undefined ? "" : summary(graph);
  const shown = graph;
  chart.draw(shown && shown.nodes.length > 0 ? buildTree(shown, weight) : undefined, (datum) => (shown ? describe(datum, shown) : ""));
  find();
  vscode.setState({ subject: given, weight, glue, search: search.value });
}

function summary({ calls, durationText, hidden, merged }: Graph): string {
  return [
    `${count(calls, "call")}, ${durationText}`,
    hidden > 0 ? `${count(hidden, "glue frame")} folded` : "",
    merged > 0 ? `${count(merged, "small function")} merged` : "",
  ]
    .filter((text) => text !== "")
    .join("; ");
}

function find(): void {
  const found = chart.find(search.value);
  element("found").textContent = found === undefined ? "" : formatSearchResult(found);
}

function formatSearchResult({ functions, places, share }: SearchResult): string {
  const where = places > functions ? ` in ${count(places, "place")}` : "";
  return `${count(functions, "function")}${where}, ${percent(share)}`;
}

function showDetails(datum: Datum | undefined): void {
  element("details").textContent = datum === undefined || graph === undefined ? "" : describe(datum, graph);
  const button = element<HTMLButtonElement>("source");
  button.disabled = datum === undefined || !hasSource(datum);
  button.onclick = () => datum && openSource(datum);
}

function hasSource({ node }: Datum): boolean {
  return typeof node?.frame === "number" && node.place !== null;
}

function openSource(datum: Datum): void {
  if (typeof datum.node?.frame === "number") {
    vscode.postMessage({ kind: "source", frame: datum.node.frame });
  }
}

function element<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

function choose(change: () => void): () => void {
  return () => {
    change();
    draw();
  };
}

element("weight-duration").onclick = choose(() => (weight = "duration"));
element("weight-calls").onclick = choose(() => (weight = "calls"));
element("reset").onclick = () => chart.reset();
element("glue").onclick = () => {
  glue = !glue;
  vscode.postMessage({ kind: "wanted", glue });
};
search.oninput = () => {
  find();
  vscode.setState({ subject: given, weight, glue, search: search.value });
};
window.addEventListener("message", (event: MessageEvent<ToPage>) => show(event.data));
vscode.postMessage({ kind: "wanted", glue });
