/** Times as the pages show them, without a browser. */
/// <reference types="bun-types/test" />
import { expect, test } from "bun:test";
import { loadParts, textOfPart } from "../../testing/dashboard/parts-as-text.ts";

const { LocalTimes } = await loadParts(() => import("./time.tsx"));

test("a time in a sentence of the server is shown by the reader's clock, with the exact one as its title", () => {
  const at = "2026-01-31T14:05:09Z";
  const shown = textOfPart(<LocalTimes text={`It is asked again at ${at}, then less often.`} />);
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" }).format(new Date(at));
  expect(shown).toContain("It is asked again at <time");
  expect(shown).toContain(`title="${at}"`);
  expect(shown).toContain(`>${local}</time>, then less often.`);
  expect(textOfPart(<LocalTimes text="Publish a draft?" />)).toBe("Publish a draft?");
});
