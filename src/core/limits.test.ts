import { expect, test } from "bun:test";
import { filesOf, textOf } from "../testing/architecture/source-files.ts";
import { LIMITS } from "./limits.ts";

test("every limit that doctor prints is one that the server keeps", () => {
  const text = filesOf("**/*.{ts,tsx}")
    .filter((file) => !file.startsWith("testing/") && file !== "core/limits.ts")
    .map(textOf)
    .join("\n");
  const unused = Object.keys(LIMITS).filter((name) => !text.includes(`LIMITS.${name}`));
  expect(unused).toEqual([]);
});
