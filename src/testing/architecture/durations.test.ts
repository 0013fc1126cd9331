/** The machine's clock may be set back: a duration between two timestamps is computed in one place, which never gives less than 0. */
import { expect, test } from "bun:test";
import { filesOf, textOf } from "./source-files.ts";

test("timestamps are subtracted by `msBetween` alone; the dashboard's `duration` shows no negative ones either", () => {
  const product = filesOf("**/*.ts").filter(
    (file) => !/^(testing|web)\/|\/fixtures\/|\.gen\.ts$|^core\/clock\.ts$/.test(file),
  );
  const found = product.filter((file) => /Date\.parse\([^\n;]*\) - Date\.parse\(/.test(textOf(file)));
  expect(found).toEqual([]);
});
