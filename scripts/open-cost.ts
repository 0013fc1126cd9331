/**
 * Measures how long opening and closing a file takes, below a folder and with node:fs. bench-commit.ts compiles and
 * runs it.
 */
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "../src/working-copy/folder.ts";

const ROUNDS = 100_000;
const [root = "", file = ""] = process.argv.slice(-2);
using top = openFolder(root);

function measureMicroseconds(act: () => void): number {
  const started = performance.now();
  for (let round = 0; round < ROUNDS; round++) act();
  return ((performance.now() - started) * 1_000) / ROUNDS;
}

const acts = {
  below: () => top.openFile(file)[Symbol.dispose](),
  plain: () => closeSync(openSync(join(root, file), "r")),
};
// Run each once to warm up the compiler, then measure in turns.
for (const act of Object.values(acts)) measureMicroseconds(act);
const figures = Array.from({ length: 5 }, () => [measureMicroseconds(acts.below), measureMicroseconds(acts.plain)]);
console.log(JSON.stringify(figures));
