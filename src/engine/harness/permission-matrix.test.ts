/**
 * The form in which each program asks × what the call does × what the rule says × what the person answers. No answer
 * counts as no.
 */
import { expect, test } from "bun:test";
import { readRules } from "../permission/rules.ts";
import { createPermissionDesk, optionFor } from "./permission.ts";
import type { CallUpdate, PermissionOption } from "./port.ts";

type Said = Omit<CallUpdate, "id">;
/** The calls in the form in which each program sends them. */
const SAID: Record<string, Record<"edit" | "execute" | "fetch" | "other", Said>> = {
  opencode: {
    edit: { kind: "edit", title: "edit", input: { filePath: "/workspace/a" } },
    execute: { kind: "execute", title: "bash", input: { command: "make test" } },
    fetch: { kind: "fetch", title: "webfetch", input: { url: "https://example.com/" } },
    other: { kind: "other", title: "task", input: { prompt: "x" } },
  },
  codex: {
    edit: { kind: "edit", title: "Edit a", paths: ["/workspace/a"], changed: ["/workspace/a"] },
    execute: { kind: "execute", title: "make test", input: { command: ["bash", "-lc", "make test"] } },
    fetch: { kind: "fetch", title: "Search", input: { url: "https://example.com/" } },
    other: { title: "multi_agent" },
  },
  "claude-code": {
    edit: { name: "Edit", kind: "edit", title: "Edit a", input: { file_path: "/workspace/a" } },
    execute: { name: "Bash", kind: "execute", title: "`make test`", input: { command: "make test" } },
    fetch: { name: "WebFetch", kind: "fetch", title: "Fetch", input: { url: "https://example.com/" } },
    other: { name: "Task", kind: "other", title: "Task" },
  },
  gemini: {
    edit: { kind: "edit", title: "Writing to a", paths: ["/workspace/a"] },
    execute: { kind: "execute", title: "make test" },
    fetch: { kind: "fetch", title: "https://example.com/" },
    other: { kind: "other", title: "invoke_agent" },
  },
};
const RULES = ["none", "allow", "ask", "deny"] as const;
/** `none`: nobody answered in time. */
const ANSWERS = ["yes", "no", "none"] as const;
const TOOLS = new Set(["read", "edit", "write", "bash", "fetch_url", "grep", "find"]);
const YES: PermissionOption[] = [
  { id: "once", kind: "allow_once" },
  { id: "always", kind: "allow_always" },
];
const BOTH: PermissionOption[] = [...YES, { id: "no", kind: "reject_once" }];

async function decide(call: Said, kind: string, rule: (typeof RULES)[number], answer: (typeof ANSWERS)[number]) {
  const rules = rule === "none" ? [] : [readRules([{ [rule]: kind } as never])];
  let asked = 0;
  const permissions = {
    rulesOf: () => rules,
    // Waits until the person answers or the time is over.
    ask: () => (asked++ === 0 ? { state: "waiting" } : { state: answer === "yes" ? "allowed" : "denied", why: "" }),
    waitForAnswer: async () => {},
  };
  const turn = {
    execution: {},
    setAside: (_: string, wait: Promise<unknown>) => wait,
    ports: { permissions, masking: { text: (text: string) => text }, clock: { now: () => 0 } },
  } as never;
  const at = { tools: TOOLS, cwd: "/workspace", signal: new AbortController().signal };
  return { decision: await createPermissionDesk(turn).decide({ id: "1", ...call }, at), isAsked: asked > 0 };
}

/** The expected decision, the same for all programs. */
function shouldAllow(kind: string, rule: (typeof RULES)[number], answer: (typeof ANSWERS)[number]): boolean {
  if (rule === "none") return kind !== "other";
  return rule === "allow" || (rule === "ask" && answer === "yes");
}

const CASES = Object.entries(SAID).flatMap(([harness, calls]) =>
  Object.entries(calls).flatMap(([kind, call]) =>
    RULES.flatMap((rule) => ANSWERS.map((answer) => [harness, kind, rule, answer, call] as const)),
  ),
);

test.each(CASES)("%s: %s, rule %s, answer %s", async (_, kind, rule, answer, call) => {
  const { decision, isAsked } = await decide(call, kind, rule, answer);
  const isAllowed = shouldAllow(kind, rule, answer);
  expect([decision, isAsked]).toEqual([isAllowed ? "allow" : "deny", rule === "ask"]);
  expect(optionFor(decision!, BOTH)).toBe(isAllowed ? "once" : "no");
  // When no option refuses, a no chooses none of the options.
  expect(optionFor(decision!, YES)).toBe(isAllowed ? "once" : undefined);
});
