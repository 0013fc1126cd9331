import { expect, test } from "bun:test";
import { archiveName } from "./archive-name.ts";

test.each([
  ["web", "web"],
  ["Größe 😀", "Größe"],
  ["../a/b", "a-b"],
  ["--force", "force"],
  ["项目", "项目"],
  ["😀", "project"],
  ["x".repeat(256), "x".repeat(60)],
])("a project %j is exported to a file that is called after it", (project, name) => {
  expect(archiveName(project)).toBe(`${name}.skep.tar.gz`);
});
