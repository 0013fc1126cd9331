/** Places of steps in the graph: left to right or top to bottom, whichever fits the room. */
import dagre from "@dagrejs/dagre";

/** Sizes of a step's box, px: as wide as its words like it, or narrower where that lets the graph fit. */
const WIDTHS = { wide: 200, narrow: 168 };
export const BOX_HEIGHT = 60;

/** Its smallest letters are 12 px: below 11 they cannot be read. */
export const SMALLEST = 0.92;

export type Direction = "LR" | "TB";

export interface Layout {
  direction: Direction;
  /** Width of a box, px. */
  box: number;
  /** Middles of the boxes. */
  places: Map<string, { x: number; y: number }>;
  width: number;
  height: number;
}

interface Shape {
  id: string;
  needs: readonly string[];
}

const GAPS: Record<Direction, { nodesep: number; ranksep: number }> = {
  TB: { nodesep: 24, ranksep: 40 },
  LR: { nodesep: 18, ranksep: 44 },
};

function layOut(steps: readonly Shape[], direction: Direction, box: number): Layout {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: direction, ...GAPS[direction] });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(steps.map(({ id }) => id));
  for (const id of known) graph.setNode(id, { width: box, height: BOX_HEIGHT });
  for (const { id, needs } of steps) for (const need of needs) if (known.has(need)) graph.setEdge(need, id);
  dagre.layout(graph);
  const places = new Map(steps.map(({ id }) => [id, { x: graph.node(id).x, y: graph.node(id).y }]));
  const ends = [...places.values()];
  const width = Math.max(0, ...ends.map(({ x }) => x)) + box / 2;
  const height = Math.max(0, ...ends.map(({ y }) => y)) + BOX_HEIGHT / 2;
  return { direction, box, places, width, height };
}

/**
 * Left to right where that fits the width, as people read; else top to bottom; of two that do not fit, the narrower.
 * @param room px that the boxes may take. @param side px that the edges at the right side of a layout from top to bottom take.
 */
export function chooseLayout(steps: readonly Shape[], room: number, side: number): Layout {
  const fits = ({ width }: Layout) => width * SMALLEST <= room;
  const wide = layOut(steps, "LR", WIDTHS.wide);
  if (fits(wide)) return wide;
  const across = layOut(steps, "LR", WIDTHS.narrow);
  if (fits(across)) return across;
  const down = [WIDTHS.wide, WIDTHS.narrow].map((box) => layOut(steps, "TB", box));
  const fitting = down.find((one) => (one.width + side) * SMALLEST <= room);
  return fitting ?? (down[1]!.width + side < across.width ? down[1]! : across);
}
