/** In a browser: the page of a broken agent or pipeline lists all problems of its file. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser } from "playwright-core";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

const WRONG = Array.from({ length: 30 }, (_, at) => at);

describe.skipIf(!hasBrowser())("a broken file", () => {
  let [server, browser]: [TestServer?, Browser?] = [];
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), openBrowser()]);
    const put = (path: string, text: string) => {
      const file = join(server!.data, "agents", path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    };
    put("bad/AGENT.md", "---\nname: Bad\nmax_turns: many\nunknown_key: 1\ntools: [bsh]\n---\nYou are bad.\n");
    const steps = WRONG.map((at) => `  - id: s${at}\n    agent: nobody-${at}\n    input: Go on\n`);
    put("_pipelines/wrong.yml", `id: wrong\nname: Wrong\nsteps:\n${steps.join("")}`);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
  });

  for (const path of ["agents/bad", "pipelines/wrong"])
    test(`${path}: every problem that the API lists is on its page, with its line`, async () => {
      const { body } = await server!.request<{ problems: { line: number; message: string }[] }>("GET", `/v1/${path}`);
      const { page, open, close, faults } = await visit(browser!, server!.url);
      await open(`/${path}`);
      const list = page.getByRole("status", { name: "Problems" });
      await list.getByText(body.problems.at(-1)?.message ?? "no problem").waitFor();
      const wanted = body.problems.map(({ line, message }) => `line ${line} ${message}`);
      expect(wanted.length).toBeGreaterThanOrEqual(path === "agents/bad" ? 3 : WRONG.length);
      expect(await list.getByRole("listitem").allTextContents()).toEqual(wanted);
      await close();
      expect(faults).toEqual([]);
    });
});
