/**
 * What a model says to the agents of a newcomer's first project. The reply depends on the request, as with a real
 * model.
 */
import { type Behaviour, type RecordedRequest, reply } from "../model-server.ts";
import type { FakeReply } from "../model-wire.ts";
import { SHOP } from "../source-tree.ts";

/** A model of the price table, so that a run has a cost. */
export const MODEL = "gpt-5-mini";

const complete = (outputs: Record<string, unknown>, summary: string): FakeReply => ({
  toolCalls: [{ name: "complete", input: { outputs, summary } }],
});
const call = (text: string, name: string, input: Record<string, unknown>): FakeReply => ({
  text,
  toolCalls: [{ name, input }],
});

/** The shop's cart with a discount: first as a float, then as a comment asked for. */
const cart = (field: string): string =>
  SHOP["src/cart.ts"]
    .replace("private prices: number[] = [];", `private prices: number[] = [];\n  ${field}`)
    .replace("withTax(", "withTax(this.off * ");
export const FIRST_TRY = "private off = 0.9;";
export const SECOND_TRY = "private off = 90 / 100;";
export const COMMENT = "Say it in per cent, not as a float.";

const write = (field: string): FakeReply =>
  call("The discount belongs to the cart.", "write", { path: "src/cart.ts", content: cart(field) });

/** The turns of a step, in order. */
type Turns = [FakeReply, ...FakeReply[]];

/** Turns by a sentence in the step's input. */
const STEPS: [sentence: string, turns: (asked: string) => Turns][] = [
  [
    "Turn this request into a goal",
    () => [
      call("I look at the repository first.", "ls", { path: "src" }),
      complete({ goal: "A cart can have a discount.", acceptance: ["A cart of 100 at 10 % costs 90."] }, "Planned."),
    ],
  ],
  [
    "Design the change and cut it",
    () => [
      complete(
        {
          design: "The cart multiplies its sum by what is left of the price.",
          tasks: [{ title: "Discount in the cart", description: "Change src/cart.ts.", done_when: "The sum is 90." }],
        },
        "Designed.",
      ),
    ],
  ],
  [
    "Build this task with its tests",
    (asked) => [
      write(asked.includes(COMMENT) ? SECOND_TRY : FIRST_TRY),
      complete({ changed_files: ["src/cart.ts"], checked: "nothing" }, "Built."),
    ],
  ],
  [
    "Judge whether this change meets its goal",
    () => [complete({ verdict: "approved", findings: [], evidence: "Read: the sum is multiplied once." }, "Reviewed.")],
  ],
  ["Bring the documentation in line", () => [complete({ changes: "None needed." }, "Documented.")]],
  ["Report on this run", () => [complete({ summary: "The cart has a discount.", follow_ups: [] }, "Reported.")]],
  [
    "What changed in the cart?",
    () => [
      call("I note it, too.", "remember", {
        title: "Discounts are in the cart",
        content: "A discount is a float in the cart.",
        type: "fact",
      }),
      { text: "The cart multiplies its sum by **90 per cent**, in `src/cart.ts`." },
    ],
  ],
  ["Say in the manual", () => [complete({ summary: "The manual has a section on discounts." }, "Written.")]],
];

/** The outputs of the example's steps. */
export const HELLO = { summary: "An empty folder.", file: "HELLO.md", verdict: "approved", feedback: "" };

/** The last request, and how many tools were used since. */
function turnOf(body: unknown): { asked: string; turn: number } {
  const { input = [] } = body as { input?: { role?: string; type?: string; content?: unknown }[] };
  const at = input.findLastIndex(({ role }) => role === "user");
  return {
    asked: JSON.stringify(input[at]?.content ?? ""),
    turn: input.slice(at).filter(({ type }) => type === "function_call_output").length,
  };
}

export function newcomerModel({ body }: RecordedRequest): Behaviour {
  const { asked, turn } = turnOf(body);
  const turns = STEPS.find(([sentence]) => asked.includes(sentence))?.[1](asked) ?? [complete(HELLO, "Done.")];
  const said = turns[Math.min(turn, turns.length - 1)]!;
  return reply({ ...said, usage: { input: 20_000, output: 900 } });
}
