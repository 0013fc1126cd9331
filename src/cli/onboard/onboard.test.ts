/** `skep onboard`, driven as a person would. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type RunOptions, skep } from "../../testing/command.ts";
import { skepCommand, startServer, type TestServer } from "../../testing/server.ts";
import { openTerminal } from "../../testing/terminal.ts";

setDefaultTimeout(300_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());

const cli = (args: readonly string[], options: RunOptions = {}) => skep([...args, "--data", server.data], options);

describe("skep onboard", () => {
  test("asks, takes each line as an answer, and ends with the project that was made", async () => {
    const answers = ["Paper birds", "", "Fold them", "See them fly", "Paper and a fan"].join("\n");
    const { stdout, stderr, code } = await cli(["onboard"], { stdin: answers });
    expect([code, stderr]).toEqual([0, ""]);
    for (const words of ["What shall the project be called?", "— strategy —", "— product —", "— architecture —"])
      expect(stdout).toContain(words);
    const [, project] = /The project Paper birds is made\. See it with: skep projects (proj_\w+)/.exec(stdout)!;
    const { body } = await server.request<{ name: string }>("GET", `/v1/projects/${project}`);
    expect(body.name).toBe("Paper birds");
  });

  test("is left at the end of the input and continued, by how it began or with --continue", async () => {
    const first = await cli(["onboard", "--say", "Kites of silk"], { stdin: "Silk kites\n" });
    expect(first.stdout).toMatch(/Left; nothing is lost. Continue: skep onboard onb_\w+\n$/);
    const again = await cli(["onboard", "Kites of"], { stdin: "" });
    expect(again.stdout).toContain("phase: strategy");
    expect(again.stdout).toContain("What is it to reach?");
    await cli(["onboard", "--continue"], { stdin: "Fly high\n" });
    const shown = JSON.parse((await cli(["onboard", "show", "Kites of", "--json"])).stdout);
    expect(shown).toMatchObject({ phase: "product", context: { strategy: { problem: "Fly high" } } });
    expect((await cli(["onboard", "list"])).stdout).toContain("Kites of silk");
    expect((await cli(["onboard", "abandon", "Kites of"])).code).toBe(0);
    const none = await cli(["onboard", "--continue"]);
    expect([none.code, none.stderr]).toEqual([1, "skep: No session is active. Begin one with: skep onboard\n"]);
    const over = await cli(["onboard", "Kites of"], { stdin: "More\n" });
    expect(over.stdout).toContain("is abandoned.");
  });

  test("in a terminal: an answer is typed, the next interviewer asks, and Ctrl-C leaves with the way back", async () => {
    const terminal = openTerminal(skepCommand("onboard", "--data", server.data), { columns: 200 });
    await terminal.shows(/as its name\.\s+>/);
    terminal.type("Boats of bark\r");
    await terminal.shows(/What is it to reach\?\s+>/);
    terminal.type("\x03");
    await terminal.shows(/Continue: skep onboard/);
    expect(await terminal.exited).toBe(0);
  });

  test("a session or a model that does not exist is one line", async () => {
    const none = await cli(["onboard", "onb_none"]);
    expect(none).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^skep: There is no session onb_none/),
    });
    const model = await cli(["onboard", "--model", "nobody/knows"]);
    expect(model).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no such provider") });
  });
});
