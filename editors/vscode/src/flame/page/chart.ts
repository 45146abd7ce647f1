// d3-flame-graph in this page, with colours by language, keyboard selection of a node, and opening of its source.

import flamegraph, { Chart, FlameNode } from "d3-flame-graph";
import { select } from "d3-selection";

import { Datum } from "./tree";

type Node = FlameNode<Datum>;

const CELL_HEIGHT = 20;
const MIN_WIDTH = 1;

interface Listener {
  /** Called with the node under the pointer or selected by keys; undefined for none. */
  picked(datum: Datum | undefined): void;
  /** Called when the user opens the source of a node. */
  wanted(datum: Datum): void;
}

/** The result of a search: matching functions, their places in the graph, and their share of the total. */
export interface SearchResult {
  readonly functions: number;
  readonly places: number;
  readonly share: number;
}

export class FlameChart {
  private chart: Chart<Datum> | undefined;
  private at: Node | undefined;
  /** The names from the root to the zoomed node. */
  private zoomed: readonly string[] = [];
  private found: SearchResult = { functions: 0, places: 0, share: 0 };
  private label: (datum: Datum) => string = () => "";

  constructor(
    private readonly place: HTMLElement,
    private readonly listener: Listener,
  ) {
    new ResizeObserver(() => this.chart?.width(this.width()).update()).observe(place);
    // Handle the event before the chart, which would zoom.
    place.addEventListener("click", (event) => this.clicked(event), { capture: true });
    place.addEventListener("keydown", (event) => this.pressed(event));
    place.addEventListener("focus", () => (this.at === undefined ? this.pick(this.root()) : undefined));
    // d3 adds and removes shapes at each zoom.
    new MutationObserver(() => this.describeShapes()).observe(place, { childList: true, subtree: true });
  }

  /** Replaces the tree; keeps the zoom if the new tree has the same node. */
  draw(root: Datum | undefined, label: (datum: Datum) => string): void {
    this.chart?.destroy();
    this.chart = undefined;
    this.label = label;
    this.pick(undefined);
    if (root === undefined) {
      return;
    }
    this.chart = flamegraph<Datum>()
      .width(this.width())
      .cellHeight(CELL_HEIGHT)
      .minFrameSize(MIN_WIDTH)
      .transitionDuration(0)
      .inverted(true)
      .resetHeightOnZoom(true)
      .sort((a, b) => b.data.value - a.data.value)
      .setColorMapper((node) => `var(--flame-${node.highlight ? "found" : node.data.colour})`)
      .setLabelHandler((node) => label(node.data))
      .setDetailsHandler(() => undefined)
      .setSearchMatch((node, term) => node.data.position >= 0 && node.data.name.toLowerCase().includes(term))
      .setSearchHandler((results, sum, total) => {
        const functions = new Set(results.map((node) => node.data.name)).size;
        this.found = { functions, places: results.length, share: sum / Math.max(total, 1) };
      })
      .onHover((node) => this.pick(node))
      // Called for every zoom, also by keys and on reset.
      .onClick((node) => {
        this.zoomed = pathNames(node);
        this.pick(node);
      });
    select(this.place).datum(root).call(this.chart);
    this.zoomAgain();
  }

  /** Highlights the functions that contain a text. */
  find(text: string): SearchResult | undefined {
    const term = text.trim().toLowerCase();
    if (term === "") {
      this.chart?.clear();
      return undefined;
    }
    this.found = { functions: 0, places: 0, share: 0 };
    this.chart?.search(term);
    return this.found;
  }

  reset(): void {
    this.chart?.resetZoom();
    this.pick(undefined);
  }

  private zoomAgain(): void {
    const root = this.root();
    const node = root && findNode(root, this.zoomed);
    this.zoomed = [];
    if (node?.parent) {
      this.chart?.zoomTo(node);
    }
  }

  private width(): number {
    return Math.max(this.place.clientWidth, 200);
  }

  private pick(node: Node | undefined): void {
    this.at = node;
    const before = this.place.querySelector("g.picked");
    before?.classList.remove("picked");
    before?.setAttribute("aria-selected", "false");
    const shape = node && this.shapeOf(node);
    shape?.classList.add("picked");
    shape?.setAttribute("aria-selected", "true");
    if (shape?.id) {
      this.place.setAttribute("aria-activedescendant", shape.id);
    } else {
      this.place.removeAttribute("aria-activedescendant");
    }
    this.listener.picked(node?.data);
  }

  private clicked(event: MouseEvent): void {
    const shape = event.target instanceof Element ? event.target.closest("g.frame") : null;
    const node = shape && nodeOf(shape);
    if (node && (event.ctrlKey || event.metaKey)) {
      event.stopPropagation();
      this.pick(node);
      this.listener.wanted(node.data);
    }
  }

  private pressed(event: KeyboardEvent): void {
    const at = this.at ?? this.root();
    if (at === undefined) {
      return;
    }
    if (event.key === "Enter") {
      if (event.ctrlKey || event.metaKey) {
        this.listener.wanted(at.data);
      } else {
        this.chart?.zoomTo(at);
        this.pick(at);
      }
    } else if (event.key === "Escape") {
      this.reset();
    } else {
      const next = findNeighbour(at, event.key);
      if (next === undefined) {
        return;
      }
      this.pick(next);
      this.shapeOf(next)?.scrollIntoView({ block: "nearest" });
    }
    event.preventDefault();
  }

  /** Sets roles and names of the shapes for screen readers. */
  private describeShapes(): void {
    this.place.querySelector("svg")?.setAttribute("role", "presentation");
    for (const shape of this.place.querySelectorAll("g.frame")) {
      const node = nodeOf(shape);
      const { data } = node;
      shape.id = `frame-${data.position}`;
      shape.setAttribute("role", "treeitem");
      shape.setAttribute("aria-level", String(node.ancestors().length));
      shape.setAttribute("aria-selected", String(shape.classList.contains("picked")));
      shape.setAttribute("aria-label", this.label(data).replaceAll("\n", ", "));
    }
    const picked = this.place.querySelector("g.picked");
    if (picked !== null) {
      this.place.setAttribute("aria-activedescendant", picked.id);
    }
  }

  private root(): Node | undefined {
    const shape = this.place.querySelector("g.frame");
    let at = shape === null ? undefined : nodeOf(shape);
    while (at?.parent) {
      at = at.parent;
    }
    return at;
  }

  private shapeOf(node: Node): Element | undefined {
    return [...this.place.querySelectorAll("g.frame")].find((shape) => nodeOf(shape) === node);
  }
}

function pathNames(node: Node): string[] {
  return node.ancestors().map(({ data }) => data.name).reverse();
}

/** The node with this path of names; else one with the same last name whose path differs only by folded frames. */
function findNode(root: Node, names: readonly string[]): Node | undefined {
  const ways = root.descendants().filter(({ data }) => data.name === names.at(-1)).map((node) => ({ node, path: pathNames(node) }));
  const exact = ways.find(({ path }) => path.length === names.length && containsInOrder(path, names));
  return (exact ?? ways.find(({ path }) => containsInOrder(path, names) || containsInOrder(names, path)))?.node;
}

/** Whether a path contains all of these names in this order. */
function containsInOrder(path: readonly string[], names: readonly string[]): boolean {
  let passed = 0;
  path.forEach((name) => (passed += name === names[passed] ? 1 : 0));
  return passed === names.length;
}

/** The nearest visible node in the direction of an arrow key. */
function findNeighbour(node: Node, key: string): Node | undefined {
  const siblings = visibleNodes(node.parent?.children);
  const here = siblings.indexOf(node);
  switch (key) {
    case "ArrowDown":
      return visibleNodes(node.children)[0];
    case "ArrowUp":
      return node.parent ?? undefined;
    case "ArrowRight":
      return siblings[here + 1];
    case "ArrowLeft":
      return siblings[here - 1];
    default:
      return undefined;
  }
}

function visibleNodes(nodes: readonly Node[] | undefined): readonly Node[] {
  return (nodes ?? []).filter((node) => node.value > 0);
}

/** The node that d3 stores with its shape. */
function nodeOf(shape: Element): Node {
  return (shape as Element & { __data__: Node }).__data__;
}
