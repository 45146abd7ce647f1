// The page of a comparison: a table of lines, regressions first.

import { clock, count } from "../../words";
import { ComparedLine, ComparedLines, Comparison, FromPage, PageState, ToPage, Verdict } from "../messages";
import "./compare.css";

declare function acquireVsCodeApi(): {
  postMessage(message: FromPage): void;
  setState(state: PageState): void;
  getState(): PageState | undefined;
};

const DEFAULT_FLOOR_MS = 10;
const COLUMNS = 5;
const GROUPS: Readonly<Record<Verdict, string>> = { worse: "Got worse", better: "Got better", other: "Changed without a cost" };
const ARROWS: Readonly<Record<Verdict, string>> = { worse: "▲ ", better: "▼ ", other: "" };

const vscode = acquireVsCodeApi();
const given = JSON.parse(element("comparison").dataset["subject"] ?? "null") as Comparison;
const floor = element<HTMLInputElement>("floor");
const table = element<HTMLTableElement>("lines");

function show(message: ToPage): void {
  table.querySelectorAll("tbody").forEach((body) => body.remove());
  table.hidden = message.kind === "nothing" || message.compared.lines.length === 0;
  element("here").hidden = true;
  if (message.kind === "nothing") {
    element("summary").textContent = message.reason;
    return;
  }
  const { compared } = message;
  showHead(compared);
  for (const verdict of Object.keys(GROUPS) as Verdict[]) {
    const rows = compared.lines.flatMap((line, number) => (line.verdict === verdict ? [row(line, number)] : []));
    if (rows.length > 0) {
      const isFolded = verdict === "other" && compared.lines.some((line) => line.verdict !== "other");
      table.append(...group(GROUPS[verdict], rows, isFolded && !rows.some(isSelectedRow)));
    }
  }
  table.querySelector("tr.here")?.scrollIntoView({ block: "nearest" });
}

function showHead({ before, after, versions, text, more, lines }: ComparedLines): void {
  const sides = { before, after };
  element("sides").replaceChildren(
    ...Object.entries(sides).flatMap(([name, capture]) => [
      make("dt", name),
      make("dd", `capture ${capture.id}: ${capture.name}, ${clock(capture.started)}, ${count(capture.calls, "call")}`),
    ]),
    ...(versions.length > 0 ? [make("dt", "versions"), make("dd", versions.join("; "))] : []),
  );
  element("summary").textContent = more > 0 ? `${text} The first ${lines.length} are listed.` : text;
  if (given.here !== undefined && !lines.some(isHere)) {
    element("here").textContent = `Line ${given.here.line + 1} of ${decodeURIComponent(given.here.uri.split("/").at(-1) ?? "")} does not differ.`;
    element("here").hidden = false;
  }
}

/** The rows of a verdict below their heading, which folds them. */
function group(title: string, rows: readonly HTMLTableRowElement[], isFolded: boolean): HTMLTableSectionElement[] {
  const [head, body] = [document.createElement("tbody"), document.createElement("tbody")];
  const button = make("button", `${title} (${rows.length})`);
  const heading = document.createElement("th");
  heading.colSpan = COLUMNS;
  heading.scope = "rowgroup";
  heading.append(button);
  head.insertRow().append(heading);
  body.append(...rows);
  const fold = (folded: boolean): void => {
    body.hidden = folded;
    button.setAttribute("aria-expanded", String(!folded));
  };
  button.onclick = () => fold(!body.hidden);
  fold(isFolded);
  return [head, body];
}

function row(line: ComparedLine, number: number): HTMLTableRowElement {
  const made = document.createElement("tr");
  made.className = line.verdict;
  made.classList.toggle("here", isHere(line));
  const change = make("td", `${ARROWS[line.verdict]}${line.differenceText}`);
  change.classList.add("number");
  if (line.isNoise) {
    change.classList.add("noise");
    change.title = "Within the noise of measured times";
  }
  const side = (name: "before" | "after"): HTMLElement => {
    const cell = make("td", line.only !== null && line.only !== name ? "–" : line[name].durationText);
    cell.classList.add("number");
    cell.title = line.measure;
    return cell;
  };
  made.append(change, side("before"), side("after"), source(line, number), reasons(line));
  return made;
}

function source({ place, location, function: name, stale, only }: ComparedLine, number: number): HTMLElement {
  const cell = document.createElement("td");
  const button = make("button", place.split("/").at(-1) ?? place);
  button.className = "link";
  button.title = place;
  button.disabled = location === null;
  button.onclick = () => vscode.postMessage({ kind: "source", line: number });
  const notes = [name, only === null ? "" : `only ${only}`, stale ?? ""].filter((text) => text !== "").join(", ");
  const about = make("span", notes);
  about.className = "about";
  cell.append(button, " ", about);
  return cell;
}

/** The first reason in full, the others folded. */
function reasons({ reasons: [first, ...others], moreReasons }: ComparedLine): HTMLElement {
  const cell = make("td", first ?? "");
  if (others.length > 0) {
    const details = document.createElement("details");
    const list = document.createElement("ul");
    const rest = moreReasons > 0 ? [`and ${moreReasons} more: framedex diff ${given.before} ${given.after} --limit 0`] : [];
    list.append(...[...others, ...rest].map((text) => make("li", text)));
    details.append(make("summary", `${others.length + moreReasons} more`), list);
    cell.append(details);
  }
  return cell;
}

function isHere({ location }: ComparedLine): boolean {
  return location !== null && location.uri === given.here?.uri && location.range.start.line === given.here.line;
}

function isSelectedRow(made: HTMLTableRowElement): boolean {
  return made.classList.contains("here");
}

function make<Name extends keyof HTMLElementTagNameMap>(name: Name, text: string): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function element<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

function requestComparison(): void {
  const wanted = Number.isFinite(floor.valueAsNumber) ? Math.max(floor.valueAsNumber, 0) : DEFAULT_FLOOR_MS;
  vscode.setState({ subject: given, floor: wanted });
  vscode.postMessage({ kind: "wanted", floor: wanted });
}

floor.value = String(vscode.getState()?.floor ?? DEFAULT_FLOOR_MS);
floor.onchange = requestComparison;
element("graph").onclick = () => vscode.postMessage({ kind: "graph" });
window.addEventListener("message", (event: MessageEvent<ToPage>) => show(event.data));
requestComparison();
