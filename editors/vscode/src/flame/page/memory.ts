// The memory inside programs: the live temporaries along each schedule, stacked by line.

import { count } from "../../words";
import { LineMemory, ProgramMemories, ProgramMemory } from "../messages";

type OpenLine = (program: number, line: number) => void;

const HEIGHT = 100;
const SVG = "http://www.w3.org/2000/svg";

export function drawMemory(root: HTMLElement, memory: ProgramMemories, open: OpenLine): void {
  root.replaceChildren(...memory.programs.map((program, number) => figure(program, (line) => open(number, line))));
  if (memory.more > 0) {
    root.append(text("p", `and ${count(memory.more, "more program")}`));
  }
}

function figure(program: ProgramMemory, open: (line: number) => void): HTMLElement {
  const found = document.createElement("figure");
  const title = program.function || "a program";
  const axis = document.createElement("div");
  axis.className = "axis";
  axis.append(text("span", "step 1"), text("span", `step ${program.steps.toLocaleString("en")}`));
  found.append(text("figcaption", `${title}, ${program.text}`), chart(program, title, open), axis, lines(program, open));
  return found;
}

/** The areas of the lines on top of each other, in front of the area of all temporaries. */
function chart(program: ProgramMemory, title: string, open: (line: number) => void): SVGElement {
  const svg = shape("svg", { viewBox: `0 0 ${program.steps} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  svg.setAttribute("aria-label", `temporaries of ${title} along its schedule, by line`);
  const all = shape("path", { d: area(program, program.points.map(() => 0), program.points.map(([, size]) => size)), class: "rest" });
  svg.append(titled(all, "temporaries that are not alive at the peak"));
  let below = program.points.map(() => 0);
  program.lines.forEach((line, number) => {
    const above = below.map((size, point) => size + (line.sizes[point] ?? 0));
    const path = shape("path", { d: area(program, below, above), class: `line-${number}` });
    path.addEventListener("click", () => open(number));
    svg.append(titled(path, described(line)));
    below = above;
  });
  return svg;
}

/** The outline of an area between two heights, in bytes at each point; a height holds until the next point. */
function area({ points, peak, steps }: ProgramMemory, below: readonly number[], above: readonly number[]): string {
  const corners = points.flatMap(([step], point) => [
    { x: step, point },
    { x: points[point + 1]?.[0] ?? steps, point },
  ]);
  const outline = (heights: readonly number[]) => ({ x, point }: { x: number; point: number }): string => {
    const height = Math.min((heights[point] ?? 0) / Math.max(peak, 1), 1) * HEIGHT;
    return `${x} ${(HEIGHT - height).toFixed(3)}`;
  };
  return `M${[...corners.map(outline(above)), ...corners.reverse().map(outline(below))].join("L")}Z`;
}

/** The lines with the colours of their areas, as buttons that open them. */
function lines(program: ProgramMemory, open: (line: number) => void): HTMLElement {
  const list = document.createElement("ul");
  program.lines.forEach((line, number) => {
    const entry = document.createElement("li");
    const button = text("button", line.function ? `${line.place} in ${line.function}` : line.place) as HTMLButtonElement;
    button.disabled = line.location === null;
    button.onclick = () => open(number);
    entry.append(text("span", "", `legend line-${number}`), button, text("span", line.text, "size"));
    list.append(entry);
  });
  const rest = document.createElement("li");
  rest.append(text("span", "", "legend rest"), text("span", "not alive at the peak", "size"));
  list.append(rest);
  return list;
}

function described(line: LineMemory): string {
  return [line.place, line.function, line.text].filter((part) => part !== "").join("\n");
}

function titled(path: SVGElement, words: string): SVGElement {
  const title = document.createElementNS(SVG, "title");
  title.textContent = words;
  path.append(title);
  return path;
}

function shape(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(SVG, name) as SVGElement;
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

function text(name: string, words: string, className = ""): HTMLElement {
  const made = document.createElement(name);
  made.textContent = words;
  made.className = className;
  return made;
}
