/** What is read from a program's messages about the files that it changes. */
import { expect, test } from "bun:test";
import { updateIn } from "./updates.ts";

const readCall = (content: unknown) => {
  const update = updateIn({ update: { sessionUpdate: "tool_call", toolCallId: "a", content } });
  return update?.type === "call" ? update.call : undefined;
};
const diff = (path: unknown, oldText: unknown, newText: unknown) => ({ type: "diff", path, oldText, newText });

test("a change of a file is a unified diff", () => {
  const call = readCall([diff("/workspace/a", "one\ntwo\n", "one\n2\n"), diff("/workspace/b", null, "new\n")]);
  expect(call?.changed).toEqual(["/workspace/a", "/workspace/b"]);
  expect(call?.diff?.split("\n")).toEqual([
    ...["--- /workspace/a", "+++ /workspace/a", "@@ -1,2 +1,2 @@", " one", "-two", "+2"],
    ...["--- /dev/null", "+++ /workspace/b", "@@ -0,0 +1,1 @@", "+new"],
  ]);
});

test("what is no diff, or too long, is left out, and the file is named all the same", () => {
  const long = "x\n".repeat(100_000);
  const call = readCall([
    diff("/workspace/a", long, `${long}y`),
    diff(5, "a", "b"),
    diff("/workspace/c", "a", { no: 1 }),
  ]);
  expect(call?.changed).toEqual(["/workspace/a", "/workspace/c"]);
  expect(call?.diff).toBeUndefined();
});

test("many diffs are bounded in number and length", () => {
  const lines = (mark: string) => Array.from({ length: 500 }, (_, n) => `${mark}${n}`).join("\n");
  const call = readCall(Array.from({ length: 100 }, (_, n) => diff(`/workspace/${n}`, lines("a"), lines("b"))));
  expect(call?.diff?.length).toBeLessThanOrEqual(64 * 1024);
  expect(call?.diff?.match(/^\+\+\+ /gm)?.length).toBeLessThanOrEqual(20);
});
