/** Decisions by permission rules, as tables: rule × tool × path × command × position in a line. */
import { describe, expect, test } from "bun:test";
import { kindOfTool, type PermissionRule, type ToolKind } from "../../core/permission-rule.ts";
import { expectWork, processorMs } from "../../testing/busy-machine.ts";
import { parseAgentFile } from "../agent-file.ts";
import { splitCommand } from "./command-line.ts";
import { decide, decideAll, refusesAlways } from "./decide.ts";
import { matchesPath, matchesText, plainPath } from "./pattern.ts";
import { requestOf } from "./permit.ts";
import { readRules, ruleProblems } from "./rules.ts";

const textsOf = (line: string) =>
  splitCommand(line).map(({ text, certain }) => (certain === undefined ? text : `${certain}…`));
const ask = (pattern: string): PermissionRule => ({ ask: { tool: "bash", matches: pattern } });
const deny = (pattern: string): PermissionRule => ({ deny: { tool: "bash", matches: pattern } });
const onBash = (rules: PermissionRule[], command: string) =>
  decide(readRules(rules), requestOf({ name: "bash" }, { command }));

describe("a command line", () => {
  test.each<[string, string[]]>([
    ["git push", ["git push"]],
    ["  git   push  origin ", ["git push origin"]],
    ["'git' \"push\" o\\rigin", ["git push origin"]],
    ["g\\it pu''sh", ["git push"]],
    ["git \\\npush", ["git push"]],
    ["a; b && c || d | e & f\ng", ["a", "b", "c", "d", "e", "f", "g"]],
    ["(a; b) ; { c; }", ["a", "b", "c"]],
    ["if a; then b; else c; fi", ["a", "b", "c"]],
    ["! a", ["a"]],
    ["a # b; c\nd", ["a", "d"]],
    ["echo 'a; b' \"c && d\"", ["echo a; b c && d"]],
    ["echo $(rm -rf /x)", ["rm -rf /x", "echo …"]],
    ['echo "$(rm -rf /x)"', ["rm -rf /x", "echo …"]],
    ["echo `rm -rf /x`", ["rm -rf /x", "echo …"]],
    ["diff <(a) >(b)", ["a", "b", "diff …"]],
    ["FOO=1 git push", ["FOO=1 git push", "git push"]],
    ["sudo -E git push", ["sudo -E git push", "git push"]],
    ["env A=1 timeout 5 /usr/bin/git push", ["env A=1 timeout 5 /usr/bin/git push", "git push"]],
    ["ls | xargs rm -rf", ["ls", "xargs rm -rf", "rm -rf"]],
    ["sh -c 'git push; ls'", ["sh -c git push; ls", "git push", "ls"]],
    ['bash -lc "git push"', ["bash -lc git push", "git push"]],
    ["eval git push", ["eval git push", "git push"]],
    ["find . -exec rm -rf {} \\; -print", ["find . -exec rm -rf {} ; -print", "rm -rf {}"]],
    ["curl x | sh", ["curl x", "sh", "…"]],
    ["sh script.sh", ["sh script.sh"]],
    ["a >out 2>&1 <in", ["a > out 2>&1 < in"]],
    ["a &> out", ["a &> out"]],
    ["cat <<'E'\nrm -rf /\nE\nls", ["cat << E", "ls"]],
    ["cat <<E\n$(rm)\nE", ["cat << E", "…"]],
    ["$CMD push", ["…"]],
    ["git $SUB", ["git …"]],
    [`echo $\{HOME}/x`, ["echo …"]],
    ["{git,push}", ["…"]],
    ["/bin/r? x", ["…"]],
    ["git pu{sh,ll}", ["git pu…"]],
    ["case a in b) rm -rf /;; esac", ["case a in b", "rm -rf /", "esac"]],
    ["f() { git push; }; f", ["f", "git push", "f"]],
    ["echo 'a", ["…"]],
    ["echo $(a", ["a", "…"]],
    ['sh -c "$X"', ["sh -c …", "…"]],
    ["", []],
  ])("%j is %j", (line, texts) => expect(textsOf(line)).toEqual(texts));

  test.each<[string, PermissionRule[], "allow" | "ask" | "deny"]>([
    ["git push origin main", [ask("git push*")], "ask"],
    ["git pull", [ask("git push*")], "allow"],
    ["make && git push", [ask("git push*")], "ask"],
    ["git push && rm -rf /etc", [ask("git push*"), deny("rm -rf /*")], "deny"],
    ["echo $(rm -rf /etc)", [deny("rm -rf /*")], "deny"],
    ["rm -rf ./build", [deny("rm -rf /*")], "allow"],
    ["sudo rm -rf /", [deny("rm -rf /*")], "deny"],
    ['echo "$HOME"', [deny("rm -rf /*"), ask("git push*")], "allow"],
    ["$X -rf /", [deny("rm -rf /*")], "ask"],
    ["rm $FLAGS /", [deny("rm -rf /*")], "ask"],
    ["git push $BRANCH", [ask("git push*")], "ask"],
    ["echo 'git push", [ask("git push*")], "ask"],
    ["echo 'open", [], "allow"],
    ["echo 'open", [{ allow: "execute" }, deny("rm*")], "allow"],
    ["npm test", [{ allow: { tool: "bash", matches: "npm *" } }, { deny: "bash" }], "allow"],
    ["npm test; ls", [{ allow: { tool: "bash", matches: "npm *" } }, { deny: "bash" }], "deny"],
    ["npm run $X", [{ allow: { tool: "bash", matches: "npm run *" } }, { deny: "bash" }], "allow"],
    ["npm $X", [{ allow: { tool: "bash", matches: "npm run *" } }, { deny: "bash" }], "deny"],
    ["npm $(rm x)", [{ allow: { tool: "bash", matches: "npm *" } }, { ask: "execute" }], "ask"],
    ["ls", [{ ask: { matches: "ls" } }], "ask"],
    ["ls", [{ ask: "*" }], "ask"],
    ["ls", [{ allow: "*" }, { deny: "bash" }], "allow"],
  ])("%s under %j: %s", (command, rules, effect) => expect(onBash(rules, command).effect).toBe(effect));

  test("asks by every rule that is concerned, and only a certain text can be remembered", () => {
    const both = onBash([ask("git push*"), ask("rm *")], "git push; rm x; git push -f");
    expect(both.asking.map(({ text }) => text)).toEqual(["ask bash: git push*", "ask bash: rm *"]);
    expect([both.isUncertain, onBash([ask("git push*")], "git $X").isUncertain]).toEqual([false, true]);
  });
});

describe("tools and paths", () => {
  const rules: PermissionRule[] = [
    { allow: { tool: "edit", path: "docs/**" } },
    { ask: { tool: ["edit", "delete"], path: [".github/**", "*.lock"] } },
    { deny: { path: "secrets/**" } },
    { deny: ["shop__pay", "fetch"] },
    { ask: "shop__*" },
  ];
  test.each<[string, ToolKind, object, string]>([
    ["edit", "edit", { path: "docs/a/b.md" }, "allow"],
    ["write", "edit", { path: ".github/workflows/ci.yml" }, "ask"],
    ["write", "edit", { path: "/workspace/x/../.github/a" }, "ask"],
    ["write", "edit", { path: "./web/bun.lock" }, "ask"],
    ["write", "edit", { path: "src/a.ts" }, "allow"],
    ["read", "read", { path: "secrets/key" }, "deny"],
    ["read", "read", { path: "src/../secrets/key" }, "deny"],
    ["read", "read", { path: ".github/a" }, "allow"],
    ["ls", "read", {}, "allow"],
    ["bash", "execute", { command: "cat secrets/key" }, "allow"],
    ["fetch_url", "fetch", { url: "https://x.example/" }, "deny"],
    ["shop__pay", "other", {}, "deny"],
    ["shop__list", "other", {}, "ask"],
    ["recall", "search", { query: "x" }, "allow"],
  ])("%s (%s) with %j: %s", (tool, kind, input, effect) => {
    expect(kindOfTool(tool)).toBe(kind);
    expect(decide(readRules(rules), requestOf({ name: tool }, input)).effect).toBe(effect as "allow");
  });

  test("without rules, or without one that matches, a call is allowed and no rule is named", () => {
    expect(decide([], { tool: "bash", kind: "execute", command: "x" })).toMatchObject({
      effect: "allow",
      rule: undefined,
    });
    expect(onBash([ask("y")], "x")).toMatchObject({ effect: "allow", rule: undefined });
  });

  test("the strictest of several agents' rules holds", () => {
    const lists = [readRules([{ allow: "*" }]), readRules([{ ask: "bash" }]), readRules([ask("git *")])];
    const request = { tool: "bash", kind: "execute", command: "git push" } as const;
    expect(decideAll(lists, request)).toMatchObject({
      effect: "ask",
      asking: [{ text: "ask bash" }, { text: "ask bash: git *" }],
    });
    expect(decideAll([...lists, readRules([{ deny: "execute" }])], request).effect).toBe("deny");
    expect(decideAll([], request).effect).toBe("allow");
  });

  test.each<[PermissionRule[], boolean]>([
    [[{ deny: "bash" }], true],
    [[{ deny: "execute" }], true],
    [[{ deny: "*" }], true],
    [[deny("rm*"), { deny: "bash" }], true],
    [[deny("rm*")], false],
    [[ask("git*"), { deny: "bash" }], false],
    [[{ allow: "bash" }, { deny: "*" }], false],
  ])("%j refuses bash whatever it is called with: %p", (given, always) =>
    expect(refusesAlways(readRules(given), { tool: "bash", kind: "execute" })).toBe(always),
  );

  test.each([
    ["a/./b//c", "a/b/c"],
    ["/workspace/a", "a"],
    ["/workspace", ""],
    ["/etc/passwd", "/etc/passwd"],
    ["a/../../b", "../b"],
    ["/workspaces/a", "/workspaces/a"],
  ])("the path %s is %s", (path, plain) => expect(plainPath(path).replace(/^\/(?!etc|workspaces)/, "")).toBe(plain));
});

test("a misspelt tool is a problem of the file, with a place and a suggestion", () => {
  expect(ruleProblems([{ deny: "bsh" }])[0]?.message).toContain("bash");
  expect(ruleProblems([{ ask: { tool: ["edit", "srv__tool"] } }])).toEqual([]);
  const file = (rule: string) => parseAgentFile("a", `---\npermissions:\n  - ${rule}\n---\nYou work.`).problems;
  expect(file("allow: [read, search]")).toEqual([]);
  expect(file("deny: { tool: edti }")[0]).toMatchObject({ line: 3, message: expect.stringContaining("mean edit?") });
  expect(file("permit: read")[0]?.message).toContain("Known: allow, ask, deny");
  expect(file("{ allow: read, deny: bash }")[0]?.message).toContain("Write a rule for each");
  expect(file("deny: { tool: bash, match: x }")[0]?.message).toContain("Known: tool, path, matches");
});

test("patterns and lines made to be slow are not", () => {
  const expectQuick = (what: string, most: number, work: () => unknown) => {
    const before = processorMs();
    work();
    expectWork(what, processorMs() - before, most);
  };
  const [stars, long] = ["*a".repeat(250), "a".repeat(100_000)];
  expectQuick("a text", 20, () => matchesText(`${stars}b`, long));
  expectQuick("a path", 50, () => matchesPath(`${"**/a/".repeat(80)}c`, `${"a/".repeat(2_000)}b`));
  const rules = readRules([ask("git push*"), deny("rm -rf /*")]);
  for (const piece of ["$(", "`", "'\"", "${", "<<E\n", "find -exec ", "sh -c ", "eval ", "((", "{a,", "\\", "a;"]) {
    const command = piece.repeat(Math.floor(100_000 / piece.length));
    expectQuick(`a line of ${piece}`, 100, () => decide(rules, { tool: "bash", kind: "execute", command }));
  }
});
