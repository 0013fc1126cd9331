/** What an external agent may do when it asks. */
import { expect, test } from "bun:test";
import { decide, optionFor } from "./permission.ts";
import type { CallKind, PermissionOption } from "./port.ts";

const all: PermissionOption[] = (["allow_always", "allow_once", "reject_always", "reject_once"] as const).map(
  (kind) => ({
    ...{ id: kind, kind },
  }),
);

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
])("%s with %p: %s", async (kind, tools, decision) => {
  expect(await decide({ call: { id: "1", kind }, options: all }, new Set(tools))).toBe(decision);
});

test("Skep's own tools go by their own names", async () => {
  const call = { id: "1", kind: "other" as const, title: "skep_remember" };
  expect(await decide({ call, options: all }, new Set(["remember"]))).toBe("allow");
  expect(await decide({ call, options: all }, new Set(["bash"]))).toBe("deny");
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
