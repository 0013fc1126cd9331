/** The file and shell tools, in both kinds of sandbox. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TObject } from "@sinclair/typebox";
import { createProcessSandboxes } from "../../adapter/sandbox/process/driver.ts";
import { messageOf } from "../../core/errors.ts";
import { createMasker } from "../../core/masking.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { sandboxFixture } from "../../testing/sandbox-fixture.ts";
import type { Sandbox, SandboxSpec } from "../sandbox.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { findTool } from "./find.ts";
import { grepTool } from "./grep.ts";
import { lsTool } from "./ls.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

const docker = await dockerForTests(process.env);
const never = new AbortController().signal;
const processSpec = (workspace: string): SandboxSpec => ({
  executionId: "exe_test",
  sessionId: "sess_test",
  agentId: "engineer",
  home: workspace,
  network: "none",
  memoryMb: 64,
  cpus: 1,
  env: {},
});

const run = async <Input>(tool: Tool<Input>, sandbox: Sandbox, input: Input, signal = never): Promise<ToolResult> =>
  await tool.run(input, {
    execution: { id: "exe_test", sessionId: "sess_test", depth: 0, kind: "chat", agentId: "engineer" },
    callId: "call_test",
    sandbox,
    signal,
    aside: (wait) => wait,
    masker: createMasker({}),
    outside: () => undefined,
    onOutput: () => {},
  });

for (const kind of ["process", "docker"] as const)
  describe.skipIf(kind === "docker" && !docker)(`tools in the ${kind} sandbox`, () => {
    const fixture = docker && kind === "docker" ? sandboxFixture({ docker, defaultImage: "set below" }) : undefined;
    let sandbox: Sandbox;
    let workspace: string;
    beforeAll(async () => {
      workspace = await mkdtemp(join(tmpdir(), "skep-tools-"));
      sandbox =
        docker && fixture
          ? await fixture.start({ image: await testImage(docker), home: workspace })
          : await createProcessSandboxes({ allowHostShell: false }).start(processSpec(workspace), never);
    });
    afterAll(async () => {
      await sandbox.stop();
      await fixture?.end();
      await rm(workspace, { recursive: true, force: true });
    });
    const read = (input: { path: string; offset?: number; limit?: number }) => run(readTool, sandbox, input);
    const write = (path: string, content: string) => run(writeTool, sandbox, { path, content });
    const edit = (path: string, ...edits: { old_text: string; new_text: string; replace_all?: boolean }[]) =>
      run(editTool, sandbox, { path, edits });
    const content = async (path: string) => Buffer.from(await sandbox.workspace.read(path)).toString();
    const refusal = async (call: Promise<unknown>) => {
      try {
        await call;
      } catch (error) {
        return messageOf(error);
      }
      throw new Error("it was not refused");
    };

    test("write makes folders, read numbers the lines and says how to continue", async () => {
      expect((await write("notes/a.txt", "one\ntwo\nthree\n")).output).toBe("Wrote notes/a.txt: 3 lines, 14 bytes.");
      expect((await read({ path: "notes/a.txt" })).output).toBe("1\tone\n2\ttwo\n3\tthree");
      expect((await read({ path: "/workspace/notes/a.txt", offset: 2, limit: 1 })).output).toBe(
        "2\ttwo\n\n[lines 2–2 of 3; continue with offset 3]",
      );
      expect(await refusal(read({ path: "notes/a.txt", offset: 4 }))).toContain("has 3 lines");
      await write("empty", "");
      expect((await read({ path: "empty" })).output).toBe("empty is empty.");
    });

    test("read keeps to the output limit, cuts long lines, and its parts make the whole", async () => {
      await write(
        "long.txt",
        Array.from({ length: 5_000 }, (_, index) => `line ${index + 1} ${"x".repeat(30)}`).join("\n"),
      );
      let next = 1;
      let seen = 0;
      while (next > 0) {
        const { output } = await read({ path: "long.txt", offset: next });
        expect(Buffer.byteLength(output)).toBeLessThanOrEqual(32 * 1024);
        seen += output.split("\n").filter((line) => /^\d+\tline \d+ x{30}$/.test(line)).length;
        next = Number(/continue with offset (\d+)\]$/.exec(output)?.[1] ?? 0);
      }
      expect(seen).toBe(5_000);
      await write("wide.txt", "y".repeat(100_000));
      expect((await read({ path: "wide.txt" })).output).toBe(`1\t${"y".repeat(2_000)} [line cut, 100000 bytes]`);
    });

    test("read refuses what is not text, saying what it is", async () => {
      await sandbox.workspace.write(
        "a.png",
        Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(100)]),
      );
      await sandbox.workspace.write("a.bin", Buffer.from([1, 0, 2]));
      expect(await refusal(read({ path: "a.png" }))).toContain("PNG image of 108 bytes");
      expect(await refusal(read({ path: "a.bin" }))).toContain("binary file");
      expect(await refusal(read({ path: "notes" }))).toContain("is a folder");
      expect(await refusal(read({ path: "nowhere/x" }))).toContain('There is no "nowhere/x"');
    });

    test("edit replaces what is there once, and says where", async () => {
      await write("code.ts", "const a = 1;\nconst b = 2;\n");
      const { output } = await edit("code.ts", { old_text: "b = 2", new_text: "b = $& $1" });
      expect(output).toBe("Edited code.ts: 1 replacement, first at line 2.");
      expect(await content("code.ts")).toBe("const a = 1;\nconst b = $& $1;\n");
    });

    test("edit is all or nothing, each change on the result of the one before", async () => {
      await write("code.ts", "a b c\n");
      await edit("code.ts", { old_text: "a", new_text: "x" }, { old_text: "x b", new_text: "y" });
      expect(await content("code.ts")).toBe("y c\n");
      const failed = edit("code.ts", { old_text: "y", new_text: "z" }, { old_text: "q", new_text: "r" });
      expect(await refusal(failed)).toMatch(/^Edit 2: old_text is not in the file \(after the edits before it\)/);
      expect(await content("code.ts")).toBe("y c\n");
    });

    test("edit names the lines of several matches, and replaces all when asked to", async () => {
      await write("code.ts", "foo\nbar\nfoo\n");
      expect(await refusal(edit("code.ts", { old_text: "foo", new_text: "x" }))).toContain("2 times (lines 1, 3)");
      expect((await edit("code.ts", { old_text: "foo", new_text: "x", replace_all: true })).output).toContain(
        "2 replacements",
      );
      expect(await content("code.ts")).toBe("x\nbar\nx\n");
    });

    test("edit tells a difference in white space from a text that is not there, and keeps line ends", async () => {
      await write("code.ts", "\tif (a) {\n\t\tb();\n\t}\n");
      expect(await refusal(edit("code.ts", { old_text: "  if (a) {\n    b();", new_text: "" }))).toContain(
        "Line 1 differs",
      );
      expect(await refusal(edit("code.ts", { old_text: "c()", new_text: "" }))).toContain("Read the file again");
      await write("dos.txt", "\uFEFFa\r\nb\r\nc\r\n");
      await edit("dos.txt", { old_text: "a\nb\n", new_text: "1\n2\n" });
      expect(await content("dos.txt")).toBe("\uFEFF1\r\n2\r\nc\r\n");
      await sandbox.workspace.write("latin", Buffer.from([0x61, 0xe4, 0x62]));
      expect(await refusal(edit("latin", { old_text: "a", new_text: "b" }))).toContain("not UTF-8");
    });

    test("ls, find and grep see the tree as git does", async () => {
      await write("tree/.gitignore", "node_modules/\n*.log\n!keep.log\n/only-here\n");
      for (const path of [
        "src/a.ts",
        "src/deep/b.ts",
        "node_modules/x/y.ts",
        "z.log",
        "keep.log",
        "only-here",
        "src/only-here",
        "src/-dash.ts",
      ])
        await write(`tree/${path}`, `needle in ${path}\n`);
      const ls = await run(lsTool, sandbox, { path: "tree" });
      expect(ls.output.split("\n")[0]).toBe(".gitignore  41 B");
      expect(ls.output).toContain("\nsrc/");
      const find = async (pattern: string, more: { path?: string; ignored?: boolean } = {}) =>
        (await run(findTool, sandbox, { pattern, path: "tree", ...more })).output.split("\n");
      expect(await find("*.ts")).toEqual(["tree/src/-dash.ts", "tree/src/a.ts", "tree/src/deep/b.ts"]);
      expect(await find("src/*.ts")).toEqual(["tree/src/-dash.ts", "tree/src/a.ts"]);
      expect(await find("{*.log,only-here}")).toEqual(["tree/keep.log", "tree/src/only-here"]);
      expect(await find("y.ts", { ignored: true })).toEqual(["tree/node_modules/x/y.ts"]);
      expect(await find("deep", { path: "/workspace/tree/src" })).toEqual(["tree/src/deep/"]);
      expect(await find("nothing")).toEqual(["Nothing found."]);
      const grep = async (input: Parameters<(typeof grepTool)["run"]>[0]) =>
        (await run(grepTool, sandbox, input)).output.split("\n").sort();
      expect(await grep({ pattern: "needle|nothing", path: "tree", glob: "*.ts" })).toEqual([
        "tree/src/-dash.ts:1:needle in src/-dash.ts",
        "tree/src/a.ts:1:needle in src/a.ts",
        "tree/src/deep/b.ts:1:needle in src/deep/b.ts",
      ]);
      expect(await grep({ pattern: "NEEDLE in .*a\\.ts", ignore_case: true })).toEqual([
        "tree/src/a.ts:1:needle in src/a.ts",
      ]);
      expect(await grep({ pattern: "in src/.", literal: true, path: "tree" })).toEqual(["No matches."]);
      expect(await refusal(grep({ pattern: "(" }))).toContain("grep:");
      expect(await grep({ pattern: "--help", path: "tree" })).toEqual(["No matches."]);
    });

    test("grep passes over binary files and stops at its limit", async () => {
      await sandbox.workspace.write("many/bin", Buffer.from("needle\0needle\n"));
      await write("many/text", "needle\n".repeat(2_000));
      const { output } = await run(grepTool, sandbox, { pattern: "needle", path: "many" });
      const lines = output.split("\n");
      expect(lines).toHaveLength(501);
      expect(lines[500]).toContain("more than 500");
      expect(lines.some((line) => line.includes("bin"))).toBe(false);
    });

    test("no tool follows a planted link out of the workspace", async () => {
      const secret = await mkdtemp(join(tmpdir(), "skep-secret-"));
      try {
        await Bun.write(join(secret, "key"), "TOP-SECRET-NEEDLE");
        await symlink(secret, join(workspace, "leak"));
        await symlink(join(secret, "key"), join(workspace, "leak-file"));
        await symlink("/etc", join(workspace, "etc"));
        await symlink("../../../../etc/passwd", join(workspace, "climb"));
        for (const path of ["leak/key", "leak-file", "etc/passwd", "climb", "../x", "/etc/passwd", "notes/../../x"]) {
          for (const call of [
            () => read({ path }),
            () => write(path, "overwritten"),
            () => edit(path, { old_text: "TOP", new_text: "x" }),
            () => run(lsTool, sandbox, { path }),
            () => run(grepTool, sandbox, { pattern: "TOP", path }),
            () => run(findTool, sandbox, { pattern: "*", path }),
          ])
            expect(await refusal(call())).toContain("leads out of the workspace");
        }
        expect((await run(grepTool, sandbox, { pattern: "TOP-SECRET" })).output).toBe("No matches.");
        expect((await run(findTool, sandbox, { pattern: "key" })).output).toBe("Nothing found.");
        expect(await Bun.file(join(secret, "key")).text()).toBe("TOP-SECRET-NEEDLE");
      } finally {
        await rm(secret, { recursive: true });
      }
    });

    test(kind === "docker" ? "bash runs, streams, fails and times out as it says" : "bash is refused", async () => {
      const bash = (command: string, timeout_seconds?: number) =>
        run(bashTool, sandbox, timeout_seconds === undefined ? { command } : { command, timeout_seconds });
      if (kind === "process") {
        expect(await refusal(bash("id"))).toContain("no shell");
        return;
      }
      expect(await bash("echo hi; echo oops >&2")).toMatchObject({ ok: true, output: "hi\noops\n[exit code 0]" });
      expect(await bash("printf x; exit 3")).toEqual({ ok: false, output: "x\n[exit code 3]" });
      expect(await bash("echo a; sleep 30", 1)).toEqual({ ok: false, output: "a\n[timed out after 1 s and killed]" });
      expect((await run(bashTool, sandbox, { command: "pwd", cwd: "notes" })).output).toStartWith("/workspace/notes\n");
    });
  });

test("every tool describes itself and each of its parameters to the model", () => {
  const tools = [readTool, writeTool, editTool, lsTool, findTool, grepTool, bashTool];
  expect(tools.map((tool) => tool.name)).toEqual(["read", "write", "edit", "ls", "find", "grep", "bash"]);
  for (const tool of tools) {
    expect(tool.description.length).toBeGreaterThanOrEqual(80);
    for (const [name, schema] of Object.entries((tool.parameters as TObject).properties))
      expect(`${tool.name}.${name}: ${schema.description ?? ""}`.length).toBeGreaterThan(
        tool.name.length + name.length + 8,
      );
  }
});
