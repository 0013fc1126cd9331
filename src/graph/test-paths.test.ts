import { expect, test } from "bun:test";
import { holdsTests, isTestPath } from "./test-paths.ts";

test("tests, examples, fixtures and benchmarks are no product", () => {
  const conventions = ["tests/a.py", "src/__tests__/a.ts", "a.test.ts", "pkg/a_test.go", "test_a.py", "examples/a.rs"];
  const ofProjects = [
    "Json.Tests/A.cs",
    "load-test/a.ts",
    "UnitTests/A.swift",
    "src/androidTest/A.kt",
    "src/ParserTest.java",
  ];
  for (const path of [...conventions, ...ofProjects])
    expect({ path, test: isTestPath(path) }).toEqual({ path, test: true });
});

test("an example or a fixture holds no tests, unless it has its own", () => {
  for (const path of ["test/a.ts", "examples/shop/test/a.ts", "test/fixtures/a.spec.ts"])
    expect({ path, holds: holdsTests(path) }).toEqual({ path, holds: true });
  for (const path of ["examples/a.ts", "test/fixtures/shop/a.ts", "src/a.ts"])
    expect({ path, holds: holdsTests(path) }).toEqual({ path, holds: false });
});

test("a product's docs folder, and names that only look like tests, are product", () => {
  for (const path of [
    "docs/docs.go",
    "src/docs/page.ts",
    "doc/render.py",
    "src/contest.ts",
    "latest/a.ts",
    "src/Contest.java",
  ])
    expect({ path, test: isTestPath(path) }).toEqual({ path, test: false });
});
