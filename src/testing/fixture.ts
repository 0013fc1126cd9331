/** Texts that tests compare with files beside them. `UPDATE_FIXTURES=1` rewrites them: look at the difference then. */

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
