// Types for the used part of d3-flame-graph 5, which ships without types.

declare module "d3-flame-graph" {
  export interface FlameDatum {
    name: string;
    value: number;
    children: FlameDatum[];
  }

  /** A node of the drawn tree; `value` is 0 where zooming has hidden it. */
  export interface FlameNode<Datum extends FlameDatum> {
    readonly data: Datum;
    readonly parent: FlameNode<Datum> | null;
    readonly children?: readonly FlameNode<Datum>[];
    readonly value: number;
    readonly highlight?: boolean;
    /** The node itself and its ancestors, the root last. */
    ancestors(): FlameNode<Datum>[];
    /** The node itself and its descendants. */
    descendants(): FlameNode<Datum>[];
  }

  export interface Chart<Datum extends FlameDatum> {
    (selection: unknown): void;
    width(pixels: number): this;
    cellHeight(pixels: number): this;
    minFrameSize(pixels: number): this;
    transitionDuration(milliseconds: number): this;
    inverted(is: boolean): this;
    sort(by: (a: FlameNode<Datum>, b: FlameNode<Datum>) => number): this;
    setColorMapper(map: (node: FlameNode<Datum>, original: string) => string): this;
    setLabelHandler(label: (node: FlameNode<Datum>) => string): this;
    setDetailsHandler(show: (label: string | null) => void): this;
    setSearchMatch(matches: (node: FlameNode<Datum>, term: string) => boolean): this;
    setSearchHandler(show: (results: readonly FlameNode<Datum>[], sum: number, total: number) => void): this;
    onClick(run: (node: FlameNode<Datum>) => void): this;
    onHover(run: (node: FlameNode<Datum>) => void): this;
    search(term: string): void;
    clear(): void;
    zoomTo(node: FlameNode<Datum>): void;
    resetZoom(): void;
    resetHeightOnZoom(does: boolean): this;
    update(data?: Datum): this;
    destroy(): this;
  }

  export default function flamegraph<Datum extends FlameDatum>(): Chart<Datum>;
}

declare module "d3-selection" {
  export function select(element: Element): { datum(data: unknown): { call(chart: unknown): void } };
}
