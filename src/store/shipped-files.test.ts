import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { SHIPPED_FILES } from "./shipped-files.ts";

const AGENTS = resolve(import.meta.dir, "../../agents");

describe("what ships", () => {
  test("every file under agents/ is embedded, under its own path and to the byte", () => {
    const onDisk = [...new Glob("**/*").scanSync({ cwd: AGENTS, dot: true })].sort();
    expect(Object.keys(SHIPPED_FILES).sort()).toEqual(onDisk);
    for (const [path, text] of Object.entries(SHIPPED_FILES))
      expect([path, text]).toEqual([path, readFileSync(join(AGENTS, path), "utf8")]);
  });
});
