/** What an external agent may do when it asks. */
import { expect, test } from "bun:test";
import type { Question } from "../permission/permit.ts";
import { readRules } from "../permission/rules.ts";
import { createPermissionDesk, optionFor, requestsOf } from "./permission.ts";
import type { CallKind, CallUpdate, PermissionOption } from "./port.ts";

const all: PermissionOption[] = (["allow_always", "allow_once", "reject_always", "reject_once"] as const).map(
  (kind) => ({
    id: kind,
    kind,
  }),
);

/** The decision that is made without a person, or the question that a person would be asked. */
async function decide(call: Omit<CallUpdate, "id">, tools: string[], rules: Parameters<typeof readRules>[0] = []) {
  let question: Question | undefined;
  const read = readRules(rules);
  const permissions = {
    rulesOf: () => (read.length > 0 ? [read] : []),
    ask: (_: unknown, __: string, asked: Question) => {
      question = asked;
      return { state: "denied", why: "no" };
    },
  };
  const turn = {
    execution: {},
    ports: { permissions, masking: { text: (text: string) => text }, clock: { now: () => 0 } },
  } as never;
  const at = { tools: new Set(tools), cwd: "/host/files", signal: new AbortController().signal };
  const answer = await createPermissionDesk(turn).decide({ id: "1", ...call }, at);
  return question ?? answer;
}

test.each<[CallKind | undefined, string[], "allow" | "deny"]>([
  ["read", ["read"], "allow"],
  ["read", [], "deny"],
  ["search", ["grep"], "allow"],
  ["edit", ["read"], "deny"],
  ["edit", ["edit"], "allow"],
  ["execute", ["edit"], "deny"],
  ["execute", ["bash"], "allow"],
  ["delete", ["edit"], "deny"],
  ["fetch", ["bash"], "deny"],
  ["think", [], "allow"],
  ["switch_mode", ["bash"], "deny"],
  ["other", ["bash"], "deny"],
  [undefined, ["bash"], "deny"],
])("without rules: %s with %p: %s", async (kind, tools, decision) => {
  expect(await decide({ kind }, tools)).toBe(decision);
});

test("Skep's own tools go by their own names", async () => {
  const call = { kind: "other" as const, title: "skep_remember" };
  expect(await decide(call, ["remember"])).toBe("allow");
  expect(await decide(call, ["bash"])).toBe("deny");
});

test("rules decide by what the call does, and widen no list of tools", async () => {
  const run = (command: unknown) => ({ kind: "execute" as const, title: "bash", input: { command } });
  const rules = [{ deny: { tool: "bash", matches: "git push*" } }];
  expect(await decide(run("git push origin"), ["bash"], rules)).toBe("deny");
  expect(await decide(run(["bash", "-lc", "cd x && git push"]), ["bash"], rules)).toBe("deny");
  expect(await decide(run("git status"), ["bash"], rules)).toBe("allow");
  expect(await decide(run("git status"), ["edit"], [{ allow: "execute" }])).toBe("deny");
  const edit = (path: string) => ({ kind: "edit" as const, input: { filePath: path } });
  const byName = [{ deny: { tool: "write", path: "secret/**" } }];
  expect(await decide(edit("/workspace/secret/a"), ["edit"], byName)).toBe("deny");
  expect(await decide(edit("/host/files/secret/a"), ["edit"], byName)).toBe("deny");
  expect(await decide({ kind: "edit", paths: ["/workspace/secret/a"] }, ["edit"], byName)).toBe("deny");
  expect(await decide(edit("/workspace/open/a"), ["edit"], byName)).toBe("allow");
  expect(await decide({ kind: "other", title: "deploy" }, [], [{ allow: "other" }])).toBe("allow");
});

test("a person is asked for this call alone where the program does not say what it does", async () => {
  const rules = [{ deny: { tool: "bash", matches: "rm *" } }];
  expect(await decide({ kind: "execute", title: "tidy up" }, ["bash"], rules)).toMatchObject({
    effect: "ask",
    isUncertain: true,
    subject: "tidy up",
  });
});

test("words of a call are read as a shell would", () => {
  const [{ command }] = requestsOf({ id: "1", kind: "execute", input: { command: ["echo", "it's", "a b"] } }, "/w");
  expect(command).toBe("echo 'it'\\''s' 'a b'");
});

test("a yes is for this time where it can be; a no without an option for it is never a yes", () => {
  const only = (...kinds: PermissionOption["kind"][]) => all.filter(({ kind }) => kinds.includes(kind));
  expect(optionFor("allow", all)).toBe("allow_once");
  expect(optionFor("allow", only("allow_always"))).toBe("allow_always");
  expect(optionFor("deny", all)).toBe("reject_once");
  expect(optionFor("deny", only("reject_always"))).toBe("reject_always");
  expect(optionFor("deny", only("allow_once", "allow_always"))).toBeUndefined();
  expect(optionFor("allow", [])).toBeUndefined();
});
