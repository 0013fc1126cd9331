import { expect, test } from "bun:test";
import { overdrawnText } from "./model-call.ts";

const over = (limitUsd: number, spentUsd: number, heldUsd = 0) => ({ scope: "run", limitUsd, spentUsd, heldUsd });

test("a budget says what is left and what the next call may cost, and is used up only when something was spent", () => {
  expect(overdrawnText(over(0.5, 0.48), 0.03)).toBe(
    "The next call may cost $0.03; $0.02 is left of the run budget of $0.5.",
  );
  expect(overdrawnText(over(0.5, 0.2, 0.25), 0.2)).toBe(
    "The next call may cost $0.20; $0.05 is left of the run budget of $0.5; $0.25 is held for calls under way.",
  );
  expect(overdrawnText(over(0.5, 0.5), 0.03)).toBe("The run budget of $0.5 is used up ($0.5000 spent).");
  expect(overdrawnText(over(0, 0), 0.03)).toBe("The next call may cost $0.03; $0.00 is left of the run budget of $0.");
});
