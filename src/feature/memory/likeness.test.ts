/** When two entries say the same, and when they contradict each other. */
import { describe, expect, test } from "bun:test";
import { findContradiction, nearPairs, saysTheSame, stemSetOf } from "./likeness.ts";

const createEntry = (content: string, title = "A note on it") => ({ title, content });

describe("two entries say the same", () => {
  test.each([
    ["Deploys happen on Tuesdays.", "The deploys happen on Tuesday"],
    ["The gibbon service listens on port 8123.", "The gibbon service listens on port 8123!"],
    [
      "Ask Ana before a release of the shop goes out to customers",
      "Ask Ana before a release of the web shop goes out to customers",
    ],
  ])("%s / %s", (a, b) => {
    expect(saysTheSame(createEntry(a), createEntry(b))).toBe(true);
    expect(saysTheSame(createEntry(b), createEntry(a))).toBe(true);
  });

  test.each([
    ["Deploys happen on Tuesdays.", "Deploys happen on Thursdays."],
    ["Deploys happen on Tuesdays.", "Deploys happen on Tuesdays, unless there is a freeze."],
    ["The gibbon service listens on port 8123.", "The gibbon service never listens on port 8123."],
    ["The web service calls the billing service.", "The billing service calls the web service."],
    ["It keeps seven backups of the shop for people", "It keeps seven backups of the shop for people 30"],
    ["", ""],
  ])("not: %s / %s", (a, b) => {
    expect(saysTheSame(createEntry(a), createEntry(b))).toBe(false);
    expect(saysTheSame(createEntry(b), createEntry(a))).toBe(false);
  });
});

describe("two entries contradict each other", () => {
  test.each([
    ["Deploys happen on Tuesdays.", "Deploys happen on Thursdays.", ["tuesday"], ["thursday"]],
    ["The gibbon service listens on 8123.", "The gibbon service listens on 9000.", ["8123"], ["9000"]],
    ["Anna may approve releases of the shop.", "Anna may not approve releases of the shop.", [], ["not"]],
    ["Search is enabled on the live site.", "Search is disabled on the live site.", ["enabled"], ["disabled"]],
    ["The shop stores its orders in Postgres.", "The shop stores its orders in MySQL.", ["postgre"], ["mysql"]],
  ])("%s / %s", (a, b, onlyA, onlyB) => {
    expect(findContradiction(createEntry(a), createEntry(b))).toEqual({ a: onlyA, b: onlyB });
  });

  test.each([
    ["Deploys happen on Tuesdays.", "Backups of the shop are kept for 30 days."],
    ["The gibbon service listens on 8123.", "The gibbon service listens on 8123."],
    ["The gibbon service listens on 8123.", "The gibbon service listens on 8123 and answers with JSON."],
  ])("not: %s / %s", (a, b) => {
    expect(findContradiction(createEntry(a), createEntry(b))).toBeUndefined();
  });
});

test("near pairs are found among many, and repetitive text costs no more than other text", () => {
  const words = (n: number) => Array.from({ length: 12 }, (_, at) => `w${(n * 31 + at * 7) % 4_001}`).join(" ");
  const entries = Array.from({ length: 3_000 }, (_, n) => ({
    key: n,
    words: stemSetOf(createEntry(words(n), `t${n}`)),
  }));
  entries.push({ key: 3_000, words: stemSetOf(createEntry(`${words(17)} more`, "t17")) });
  const pairs = [...nearPairs(entries)].filter((pair) => pair !== undefined);
  expect(pairs).toContainEqual([17, 3_000]);
  const same = Array.from({ length: 3_000 }, (_, key) => ({ key, words: new Set(["one", "two", `only${key}`]) }));
  let count = 0;
  for (const pair of nearPairs(same)) if (pair) count++;
  expect(count).toBeLessThanOrEqual(3_000 * 400);
});
