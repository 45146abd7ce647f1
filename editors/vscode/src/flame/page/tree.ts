// Converts the graph to the chart's format: one tree below a root for all calls.

import { FlameDatum } from "d3-flame-graph";

import { Changed, Graph, GraphNode, Weight } from "../messages";
import { count } from "../../words";

export interface Datum extends FlameDatum {
  /** The position of the node in the graph; -1 for the root. */
  readonly position: number;
  /** The colour class of the node: its kind, or its change. */
  readonly colour: GraphNode["kind"] | Changed | "root";
  readonly node: GraphNode | undefined;
  readonly calls: number;
  readonly duration: number;
  readonly durationText: string;
  readonly children: Datum[];
}

export function buildTree(graph: Graph, weight: Weight): Datum {
  const value = (of: { calls: number; duration: number }): number => of[weight];
  const root: Datum = {
    ...{ name: "all calls", position: -1, colour: "root", node: undefined, children: [] },
    ...{ calls: graph.calls, duration: graph.duration, durationText: graph.durationText, value: value(graph) },
  };
  const made: Datum[] = [];
  graph.nodes.forEach((node, position) => {
    const datum: Datum = {
      ...{ name: nodeName(node), position, colour: node.changed?.[weight] ?? node.kind, node, children: [] },
      ...{ calls: node.calls, duration: node.duration, durationText: node.durationText, value: value(node) },
    };
    made.push(datum);
    (made[node.parent] ?? root).children.push(datum);
  });
  return root;
}

export function describe({ name, node, calls, duration: time, durationText }: Datum, { calls: all, duration: whole }: Graph): string {
  const share = whole > 0 ? `, ${percent(time / whole)} of the time` : "";
  const place = node?.place ? `\n${node.place}${node.how !== null && node.how !== "exact" ? ` [${node.how}]` : ""}` : "";
  if (node?.before && node.after) {
    const { before, after } = node;
    return `${name}${place}\n${before.durationText} → ${after.durationText}; ${before.calls.toLocaleString("en")} → ${count(after.calls, "call")}`;
  }
  return `${name}${place}\n${durationText}${share}; ${count(calls, "call")}, ${percent(calls / Math.max(all, 1))} of all`;
}

export function percent(share: number): string {
  return `${(100 * share).toPrecision(3)} %`;
}

function nodeName(node: GraphNode): string {
  return node.kind === "others" ? `${count(node.merged, "small function")}` : node.name;
}
