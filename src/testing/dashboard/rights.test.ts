/** Rights shown are rights held: what only an administrator may ask for is asked on pages and behind conditions of theirs. */
import { expect, test } from "bun:test";
import { dashboardFiles, forAdministrators, nameOf, pagesOfTheDashboard, type SourceFile } from "./rights.ts";

test("each request for administrators alone is made on a page of theirs, or where the source asks who is there", () => {
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
