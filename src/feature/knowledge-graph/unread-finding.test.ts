import { expect, test } from "bun:test";
import { findUnread } from "./unread-finding.ts";

const unread = (share: number, path: string) => ({
  files: 1,
  lines: 30,
  share,
  worst: [{ path, lines: 30, of: 300 }],
});

test("doctor warns of the project with most unread lines, from 2 % on, names its worst file and what to do", () => {
  const indexes = new Map([
    ["little", unread(0.02, "a.ts")],
    ["some", unread(0.03, "b.ts")],
    ["most", unread(0.1, "c.ts")],
  ]);
  const of = (...ids: string[]) => findUnread(ids, (id) => indexes.get(id));
  expect(of("little", "none")).toMatchObject({ verdict: "ok", detail: "2 projects indexed" });
  expect(of("little", "some", "most")).toMatchObject({
    verdict: "warn",
    detail: "parsers could not read 30 lines of project most (10.0 %), most in c.ts",
  });
});
