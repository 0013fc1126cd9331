import { expect, test } from "bun:test";
import { Problem } from "../core/errors.ts";
import { failureText } from "./failure.ts";

test("what others wrote in a failure reaches no terminal as more than text", () => {
  const name = "\x1b]0;mine\x07\x1b[2Jweb\u202e";
  expect(failureText(new Problem(404, "not_found", `There is no project ${name}.`))).toBe(
    "skep: There is no project web.",
  );
  expect(failureText(new Error(name))).not.toMatch(/[\x1b\u202e]/);
});
