/** `skep memory` against a server: every verb, and what it says of a wrong name. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";
import { openTerminal } from "../../testing/terminal.ts";

setDefaultTimeout(300_000);

let server: TestServer;
const folder = temporaryFolder();
beforeAll(async () => {
  server = await startServer();
  const body = { title: "Deploys happen on Tuesdays", content: "Never on Fridays.", type: "fact" };
  expect((await server.request("POST", "/v1/memory/vaults/lead/entries", { body })).status).toBe(201);
});
afterAll(async () => {
  await server.remove();
  folder.remove();
});

const memory = (...args: string[]) => skep(["memory", ...args, "--data", server.data]);
const ENTRY = "lead/fact/deploys-happen-on-tuesdays";

test("vaults, their entries, a search and one entry are shown, in words and as JSON", async () => {
  expect((await memory()).stdout).toMatch(/^lead +1/m);
  for (const args of [["lead"], ["list", "lead"]]) expect((await memory(...args)).stdout).toContain(ENTRY);
  expect((await memory("list", "lead", "--type", "lesson")).stdout).toBe("No matching entries.\n");
  expect((await memory("scribe")).stderr).toContain("No agent scribe remembers anything yet. List them with");
  const found = await memory("search", "deploy", "friday");
  expect(found.stdout).toContain(`Deploys happen on Tuesdays  ${ENTRY}`);
  expect(found.stdout).toContain("Never on Fridays.");
  expect((await memory("search", "zebra")).stdout).toBe("Nobody remembers anything about that.\n");
  expect((await memory("show", ENTRY)).stdout).toContain("\nNever on Fridays.\n");
  expect(JSON.parse((await memory("show", ENTRY, "--json")).stdout)).toMatchObject({ content: "Never on Fridays." });
});

test("an entry is changed from a file and in an editor, put back, confirmed, deleted and brought back", async () => {
  const file = join(folder.path, "new.md");
  writeFileSync(file, "Never on Mondays.");
  expect((await memory("edit", ENTRY, "--content", file)).stdout).toContain("changed");
  expect((await memory("show", ENTRY)).stdout).toContain("Never on Mondays.");
  expect((await memory("undo", ENTRY)).stdout).toContain("as it was");
  expect((await memory("show", ENTRY)).stdout).toContain("Never on Fridays.");
  const terminal = openTerminal(skepCommand("memory", "edit", ENTRY, "--data", server.data), {
    columns: 120,
    env: { EDITOR: "sed -i s/Fridays/Sundays/" },
  });
  expect(await terminal.exited).toBe(0);
  expect((await memory("show", ENTRY)).stdout).toContain("Never on Sundays.");
  expect((await memory("confirm", ENTRY)).stdout).toContain("confirmed");
  expect((await memory("delete", ENTRY, "--yes")).stdout).toContain("deleted");
  expect((await memory("show", ENTRY)).code).toBe(1);
  expect((await memory("undo", ENTRY)).code).toBe(0);
  expect((await memory("show", ENTRY)).stdout).toContain("Never on Sundays.");
});

test("an entry that somebody else changed meanwhile is not overwritten, and what was typed is kept", async () => {
  const other = join(folder.path, "other.md");
  writeFileSync(other, "Changed by somebody else.");
  const editor = join(folder.path, "editor.sh");
  const change = skepCommand("memory", "edit", ENTRY, "--content", other, "--data", server.data);
  const quoted = change.map((word) => `'${word}'`).join(" ");
  writeFileSync(editor, `#!/bin/sh\n${quoted} > /dev/null\necho 'Typed for an hour.' > "$1"\n`, { mode: 0o755 });
  const terminal = openTerminal(skepCommand("memory", "edit", ENTRY, "--data", server.data), {
    columns: 200,
    env: { EDITOR: editor },
  });
  expect(await terminal.exited).toBe(1);
  const [, kept] = /kept in (\S+entry\.md)/.exec(terminal.text().replaceAll(/\s+/g, " ")) ?? [];
  expect(readFileSync(kept!, "utf8")).toBe("Typed for an hour.\n");
  rmSync(dirname(kept!), { recursive: true });
  expect((await memory("show", ENTRY)).stdout).toContain("Changed by somebody else.");
  expect((await memory("undo", ENTRY)).code).toBe(0);
});

test("a vault is consolidated, and a contradiction is listed and settled", async () => {
  const write = (content: string) =>
    server.request("POST", "/v1/memory/vaults/scribe/entries", { body: { title: "Port", content } });
  await write("The shop listens on port 80.");
  await write("The shop listens on port 81.");
  expect((await memory("contradictions")).stdout).toContain("None is known");
  const job = JSON.parse((await memory("consolidate", "scribe", "--json")).stdout);
  expect((await skep(["jobs", "wait", job.id, "--data", server.data])).code).toBe(0);
  const listed = (await memory("contradictions", "--agent", "scribe")).stdout;
  expect(listed).toMatch(/scribe\/note\/port-2 .*says: 81\n {4}The shop listens on port 81\./);
  const id = /^ctr_\w+/m.exec(listed)![0];
  expect((await memory("settle", id)).stderr).toContain("--keep ENTRY");
  expect((await memory("settle", id, "--keep", "scribe/note/port-2")).stdout).toContain("scribe/note/port: superseded");
  expect((await memory("contradictions")).stdout).toContain("None is known");
  expect((await memory("settle", id, "--both")).stderr).toContain(`There is no contradiction ${id}.`);
});

test("a name without an agent, an entry that does not exist and a missing editor are named in one line", async () => {
  for (const [args, message] of [
    [["show", "deploy-day"], "write the agent and the entry"],
    [["show", "lead/fact/none"], "There is no memory entry fact/none."],
    [["edit", ENTRY], "--content FILE"],
  ] as const) {
    const { code, stderr } = await memory(...args);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  }
});
