/** The choice of a session's model among the options that its program offers. */
import { expect, test } from "bun:test";
import { modelChoice } from "./model-option.ts";

const NAMES = ["custom-lab/m", "skep/custom-lab/m", "m"];
const model = (options: unknown, more: object = {}) => ({
  configOptions: [
    null,
    { id: "mode", category: "mode", type: "select", currentValue: "m", options: [{ value: "m", name: "m" }] },
    { id: "which", category: "model", type: "select", currentValue: "other", options, ...more },
  ],
});

test("the best of the model's names that is offered is set", () => {
  const offered = ["m", "skep/custom-lab/m", "other"].map((value) => ({ value, name: value }));
  expect(modelChoice(model(offered), NAMES)).toEqual({ configId: "which", value: "skep/custom-lab/m" });
});

test("values in groups are found, and an option of that name without a category counts", () => {
  const grouped = [{ group: "g", name: "G", options: [{ value: "m", name: "M" }] }];
  expect(modelChoice(model(grouped), NAMES)).toEqual({ configId: "which", value: "m" });
  const byName = { configOptions: [{ id: "model", currentValue: "x", options: [{ value: "m" }] }] };
  expect(modelChoice(byName, NAMES)).toEqual({ configId: "model", value: "m" });
});

test("nothing is set where it is set already, or not offered, or no such option", () => {
  const offered = [{ value: "m", name: "m" }];
  expect(modelChoice(model(offered, { currentValue: "m" }), NAMES)).toBeUndefined();
  for (const answer of [model([{ value: "no" }]), model("m"), model([[]]), { configOptions: "m" }, {}, null, "text"])
    expect(modelChoice(answer, NAMES)).toBeUndefined();
  const late = [...Array.from({ length: 5_000 }, (_, n) => ({ value: `v${n}` })), ...offered];
  expect(modelChoice(model(late), NAMES)).toBeUndefined();
});
