/** Reads the commands that people send to a bot. */
import { expect, test } from "bun:test";
import { readCommand, readRun } from "./commands.ts";

test.each([
  ["/run feature Add a cart", { verb: "run", words: "feature Add a cart" }],
  ["  !RUN feature x", { verb: "run", words: "feature x" }],
  ["/run@skep_bot feature x", { verb: "run", words: "feature x" }],
  ["/stop", { verb: "stop", words: "" }],
  ["/stop\n7wrw", { verb: "stop", words: "7wrw" }],
  ["/running late", undefined],
  ["run feature x", undefined],
  ["no: /run feature x", undefined],
])("%j is a command only at the begin of a text and as a whole word", (text, command) => {
  expect(readCommand(text)).toEqual(command as ReturnType<typeof readCommand>);
});

test.each([
  ["feature Add a cart", { pipeline: "feature", project: undefined, task: "Add a cart" }],
  ["feature @shop Add a cart\nwith icons", { pipeline: "feature", project: "shop", task: "Add a cart\nwith icons" }],
  ['feature @"my shop" Add @icons', { pipeline: "feature", project: "my shop", task: "Add @icons" }],
  ["feature “@shop” is a word", { pipeline: "feature", project: undefined, task: "“@shop” is a word" }],
  ["feature @shop", undefined],
  ["feature", undefined],
  ["", undefined],
  [`${"x".repeat(65)} task`, undefined],
])("%j names a pipeline, a project where there is one, and what to do", (words, read) => {
  expect(readRun(words)).toEqual(read as ReturnType<typeof readRun>);
});
