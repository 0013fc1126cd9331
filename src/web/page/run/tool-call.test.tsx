/** A tool call as the run page and the chat show it, without a browser. */
/// <reference types="bun-types/test" />
import { expect, test } from "bun:test";
import { loadParts, textOfPart } from "../../../testing/dashboard/parts-as-text.ts";

const { ToolCall } = await loadParts(() => import("./tool-call.tsx"));

const callWith = (output: string) => ({
  call_id: "c",
  tool: "edit",
  input: { path: "a" },
  status: "done" as const,
  ok: true,
  output,
  output_characters: output.length,
  started_at: null,
  duration_ms: 5,
});
const render = (output: string): string => textOfPart(<ToolCall call={callWith(output)} />);
const lineOf = (html: string, text: string): string | undefined =>
  [...html.matchAll(/<span class="([^"]*)">([^<]*)<\/span>/g)].find(([, , line]) => line === text)?.[1];

const DIFF = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n same\n-old\n+fresh";

test("a diff in the output of a call is shown as one", () => {
  const html = render(`Edit applied.\n${DIFF}\nDone.\n- a list`);
  expect(lineOf(html, "-old")).toContain("bg-bad-soft");
  expect(lineOf(html, "+fresh")).toContain("bg-ok-soft");
  for (const plain of [" same", "Edit applied.", "Done.", "- a list"]) expect(lineOf(html, plain)).toBe("block ");
});

test("what is no diff stays as it is", () => {
  for (const text of ["- a list\n+ of two", "--- a\n+++ a\nno hunk"]) expect(render(text)).toContain(`${text}</pre>`);
});

test("of a very long diff the first lines are colored, and all of it is there", () => {
  const html = render(`${DIFF}\n${"+more\n".repeat(20_000)}+last`);
  expect(html.match(/<span class="block/g)?.length).toBeLessThanOrEqual(3_000);
  expect(html).toContain("+last</pre>");
});

test("markup in a diff is text", () => {
  expect(render(`${DIFF}\n+<img src=x>`)).toContain("+&lt;img src=x&gt;");
});
