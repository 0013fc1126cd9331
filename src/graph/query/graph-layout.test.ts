import { expect, test } from "bun:test";
import { placeDiscs, radiusOf, spotIn } from "./graph-layout.ts";

const counts = Array.from({ length: 300 }, (_, at) => Math.max(1, Math.round(400 / (at + 1))));
const links = counts.flatMap((_, at) => (at === 0 ? [] : [{ from: at, to: Math.floor(at / 3), count: 1 + (at % 5) }]));

test("discs do not overlap, hold their symbols, and stand where they stood", () => {
  const placed = placeDiscs(counts, links);
  for (const [at, a] of placed.entries()) {
    for (const b of placed.slice(0, at)) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(a.r + b.r);
    const last = spotIn(a, counts[at]! - 1);
    expect(Math.hypot(last.x - a.x, last.y - a.y)).toBeLessThan(a.r);
    expect(a.r).toBe(radiusOf(counts[at]!));
  }
  expect(placeDiscs(counts, links)).toEqual(placed);
});

test("a disc stands nearer to those it is linked to than to those it is not", () => {
  const [a, b, c, d] = placeDiscs(
    [20, 20, 20, 1],
    [
      { from: 0, to: 1, count: 5 },
      { from: 2, to: 3, count: 5 },
    ],
  ) as [Disc, Disc, Disc, Disc];
  const far = (one: Disc, other: Disc) => Math.hypot(one.x - other.x, one.y - other.y);
  expect(far(d, c)).toBeLessThan(Math.max(far(d, a), far(d, b)));
});

type Disc = ReturnType<typeof placeDiscs>[number];
