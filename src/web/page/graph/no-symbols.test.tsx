/** A code graph without symbols, without a browser. */
/// <reference types="bun-types/test" />
import { expect, test } from "bun:test";
import { loadParts, textOfPart } from "../../../testing/dashboard/parts-as-text.ts";

const { NoSymbols } = await loadParts(() => import("./no-symbols.tsx"));

test("an index that found nothing is not taken for one that was never made", () => {
  expect(textOfPart(<NoSymbols isIndexed={false} />)).toContain("before the first index");
  expect(textOfPart(<NoSymbols isIndexed />)).toContain("The index found no symbols");
});
