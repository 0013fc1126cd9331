/** How pages format times and terminal commands, and what a form proposes. */
import { expect, test } from "bun:test";
import { ownBudget } from "../../web/page/runs/own-budget.ts";
import {
  agoInSentence,
  costText,
  formatDuration,
  formatNumber,
  formatRelative,
  shellWord,
} from "../../web/ui/format.ts";
import { plainText } from "../../web/ui/plain-text.ts";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

test("a time is said in one unit, before and after now, and as its own date when it is far away", () => {
  const formatAgo = (ms: number) => formatRelative(NOW + ms, NOW);
  expect([-3 * DAY, -120 * MINUTE, -4 * MINUTE, -10_000, 10_000].map(formatAgo)).toEqual([
    "3 d",
    "2 h",
    "4 min",
    "now",
    "now",
  ]);
  expect([4 * MINUTE, 120 * MINUTE, 3 * DAY].map(formatAgo)).toEqual(["in 4 min", "in 2 h", "in 3 d"]);
  expect(formatAgo(-400 * DAY)).toContain("2025");
  expect(formatAgo(30 * 366 * DAY)).toContain("2056");
});

test("what took less than a tenth of a second is said in milliseconds", () => {
  expect([-5, 0, 0.3, 40, 99.9, 100, 1_400, 12_000].map(formatDuration)).toEqual([
    "0 s",
    "0 s",
    "1 ms",
    "40 ms",
    "100 ms",
    "0.1 s",
    "1.4 s",
    "12 s",
  ]);
});

test("large numbers are read in groups of three", () => {
  expect([0, 7, 999, 1_000, 10_045, 1_234_567, -1_200, 1_000.5].map(formatNumber)).toEqual([
    "0",
    "7",
    "999",
    "1,000",
    "10,045",
    "1,234,567",
    "-1,200",
    "1,000.5",
  ]);
});

test("calls whose price nobody knows are no $0", () => {
  const formatCost = (cost_usd: number, calls_without_price: number) => costText({ cost_usd, calls_without_price });
  expect([formatCost(0, 0), formatCost(1.27, 0), formatCost(0, 2), formatCost(1.27, 2)]).toEqual([
    "$0",
    "$1.27",
    "no price",
    "over $1.27",
  ]);
});

test("in a sentence only what is past is ago", () => {
  const formatInSentence = (ms: number) => agoInSentence(NOW + ms, NOW);
  expect([0, -4 * MINUTE, 4 * MINUTE, -3 * DAY, 3 * DAY].map(formatInSentence)).toEqual([
    "just now",
    "4 min ago",
    "in 4 min",
    "3 d ago",
    "in 3 d",
  ]);
  expect(formatInSentence(-400 * DAY)).not.toContain("ago");
});

test("a name in a line for the terminal is one word of the shell", () => {
  expect(["shop", "src/a.ts:4", "shop on the host", "Ann's; rm -rf $HOME", ""].map(shellWord)).toEqual([
    "shop",
    "src/a.ts:4",
    "'shop on the host'",
    "'Ann'\\''s; rm -rf $HOME'",
    "''",
  ]);
});

test("for another run a budget is proposed only where the pipeline has not set it and the user may give it", () => {
  // Each case: the run's budget, the pipeline's budget, whether an administrator asks, and the proposed budget.
  const cases: [number | null, number | null, boolean, number | null][] = [
    [null, null, false, null],
    [null, 2, true, null],
    [2, 2, false, null],
    [2, 2, true, null],
    [1.25, 2, false, 1.25],
    [1.25, null, false, 1.25],
    [5, 2, false, null],
    [5, 2, true, 5],
  ];
  expect(cases.map(([budget, preset, admin]) => ownBudget(budget, preset, admin))).toEqual(cases.map((one) => one[3]));
});

test("a preview of Markdown is its words; code, stars and lines below that mark nothing stay", () => {
  const said = [
    "**Done**, *really*: see [the file](src/a.ts)",
    "## Heading\n- one `**raw**`\n> ~~two~~",
    "2 * 3 * 4, 2*3*4, a ** b, snake_case_name, _so_",
    "**not closed",
    "```ts\nlet a = 1;\n```",
  ].map(plainText);
  expect(said).toEqual([
    "Done, really: see the file",
    "Heading\none **raw**\ntwo",
    "2 * 3 * 4, 2*3*4, a ** b, snake_case_name, so",
    "**not closed",
    "let a = 1;",
  ]);
});
