/** Places the steps in the graph: from left to right or from top to bottom, whichever fits the space. */
import dagre from "@dagrejs/dagre";

/** Widths of a step's box in px: the normal one, and a narrower one in case that lets the graph fit. */
const WIDTHS = { wide: 200, narrow: 168 };
export const BOX_HEIGHT = 60;

/**
 * The smallest scale at which the graph is drawn. Its smallest letters have 12 px, and below 11 px they cannot be read.
 */
export const SMALLEST = 0.92;

export type Direction = "LR" | "TB";

export interface Layout {
  direction: Direction;
  /** Width of a box in px. */
  box: number;
  /** Centers of the boxes by step id. */
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
 * Chooses left to right if that fits the width, as people read, else top to bottom. If neither fits, the narrower one.
 * @param room width for the boxes, in px.
 * @param side width for the edges at the right side of a top-to-bottom layout, in px.
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
