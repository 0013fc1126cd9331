/**
 * Positions on a map of the graph. Each cluster is a disc whose symbols form a spiral, the most connected in the
 * middle. Clusters with many edges between them stand near each other. The layout is deterministic.
 */

interface Disc {
  x: number;
  y: number;
  r: number;
}

/** Distance between neighboring symbols of a disc. */
const STEP = 14;
const MARGIN = 16;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** Radius of a disc with this many symbols. */
export const radiusOf = (count: number): number => STEP * Math.sqrt(count) + MARGIN;

/** Position of a disc's nth symbol, counted from 0. */
export function spotIn({ x, y }: Disc, at: number): { x: number; y: number } {
  const far = STEP * Math.sqrt(at + 0.35) * 0.92;
  const angle = at * GOLDEN_ANGLE;
  return { x: x + far * Math.cos(angle), y: y + far * Math.sin(angle) };
}

/**
 * Places discs without overlap, each as near as possible to the discs that it is linked to.
 * @param counts how many symbols each disc has, largest first
 * @param links how many relationships there are between the discs `from` and `to`
 */
export function placeDiscs(counts: readonly number[], links: readonly { from: number; to: number; count: number }[]) {
  const near: { other: number; count: number }[][] = counts.map(() => []);
  for (const { from, to, count } of links) {
    near[from]!.push({ other: to, count });
    near[to]!.push({ other: from, count });
  }
  const placed: Disc[] = [];
  counts.forEach((count, at) => {
    const r = radiusOf(count);
    const centre = centreOf(
      near[at]!.filter(({ other }) => other < at).map((one) => ({ ...one, ...placed[one.other]! })),
    );
    placed.push({ ...freeSpot(placed, centre, r), r });
  });
  return placed;
}

function centreOf(linked: readonly { x: number; y: number; count: number }[]): { x: number; y: number } {
  const whole = linked.reduce((sum, { count }) => sum + count, 0);
  if (whole === 0) return { x: 0, y: 0 };
  const mean = (axis: "x" | "y") => linked.reduce((sum, one) => sum + one[axis] * one.count, 0) / whole;
  return { x: mean("x"), y: mean("y") };
}

/** How many directions around a disc are tried. */
const AROUND = 16;

/** The spot nearest to the center where a disc of this radius touches another and overlaps none. */
function freeSpot(placed: readonly Disc[], centre: { x: number; y: number }, r: number): { x: number; y: number } {
  const spots = placed.flatMap((one) =>
    Array.from({ length: AROUND }, (_, at) => {
      const [angle, far] = [(at / AROUND) * 2 * Math.PI, one.r + r + MARGIN];
      const [x, y] = [one.x + far * Math.cos(angle), one.y + far * Math.sin(angle)];
      return { x, y, away: (x - centre.x) ** 2 + (y - centre.y) ** 2 };
    }),
  );
  spots.sort((a, b) => a.away - b.away);
  const isFree = ({ x, y }: { x: number; y: number }) =>
    placed.every((one) => (one.x - x) ** 2 + (one.y - y) ** 2 >= (one.r + r + MARGIN - 0.001) ** 2);
  const { x, y } = spots.find(isFree) ?? centre;
  return { x, y };
}
