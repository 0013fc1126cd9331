/**
 * A file of the dashboard that makes a request for administrators alone asks who is there, or only files and pages lead to
 * it that do. Whether the request then depends on the answer is no matter of patterns: `entry.test.ts` opens the pages as
 * a user.
 */
import { expect, test } from "bun:test";
import { dashboardFiles, forAdministrators, nameOf, pagesOfTheDashboard, type SourceFile } from "./rights.ts";

test("a file with a request for administrators alone is reached from their pages, or asks who is there", () => {
  const files = new Map(dashboardFiles().map((file) => [file.path, file]));
  const admins = forAdministrators();
  const { all, admins: adminPages } = pagesOfTheDashboard();
  expect([...files.values()].flatMap(({ asks }) => asks).length).toBeGreaterThan(150);
  const isAsked = (file: SourceFile) => /useAdmin\(\)|role === "admin"/.test(file.text);
  /** Files that a person who is no administrator can come to without being asked. */
  const open = new Set<string>();
  const come = (path: string): void => {
    const file = files.get(path);
    if (!file || open.has(path)) return;
    open.add(path);
    if (!isAsked(file)) for (const one of file.imports) come(one);
  };
  for (const page of all.filter((one) => !adminPages.includes(one))) come(page.file);
  const found = [...open]
    .map((path) => files.get(path)!)
    .filter((file) => !isAsked(file))
    .flatMap((file) => file.asks.filter((ask) => admins.has(ask)).map((ask) => `${nameOf(file.path)}: ${ask}`));
  expect(found).toEqual([]);
});
