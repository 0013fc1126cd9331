/** A sample of what `scripts/bench truth` measures: Skep's own core, compared with the TypeScript compiler's answer. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { truthOf } from "../../scripts/truth-score.ts";

const ROOT = join(import.meta.dir, "../..");
/** Enough calls that an error rate of one in a hundred shows. */
const MIN_CALLS = 300;

test("the graph has the calls that the compiler resolves, and no others", async () => {
  const { score, lists } = await truthOf(join(ROOT, "src/core"), join(ROOT, "node_modules"));
  expect(score.expected).toBeGreaterThan(MIN_CALLS);
  expect(score.judged).toBeGreaterThan(MIN_CALLS);
  const { missed, wrong } = lists;
  expect({ missed: score.recall >= 0.99 ? [] : missed, wrong: score.precision >= 0.99 ? [] : wrong }).toEqual({
    missed: [],
    wrong: [],
  });
}, 300_000);
