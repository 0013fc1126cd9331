/** Compares texts with files beside the tests. `UPDATE_FIXTURES=1` rewrites the files; check the difference then. */

import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export function expectFixture(path: string, text: string): void {
  const whole = `${text.trimEnd()}\n`;
  if (process.env["UPDATE_FIXTURES"]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, whole);
  }
  expect(whole).toBe(existsSync(path) ? readFileSync(path, "utf8") : "");
}
