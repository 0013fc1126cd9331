/** `skep voice`: from the settings to a file that can be played, and what it cost. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { type SpeechServer, startSpeechServer } from "../../testing/speech-server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
const inFolder = (name: string) => join(folder.path, name);
let speech: SpeechServer;
let server: TestServer;
beforeAll(async () => {
  speech = startSpeechServer();
  const base = `${speech.url}/v1`;
  server = await startServer({
    env: { OPENAI_API_KEY: "sk-speech-key", OPENAI_BASE_URL: base, LOCALVOICE_URL: `${speech.url}/local/v1` },
  });
});
afterAll(async () => {
  await server.remove();
  await speech.stop();
  folder.remove();
});
const cli = (...args: string[]) => skep(["voice", ...args, "--url", server.url]);

test("is switched on by the settings, an agent's own take precedence, and null resets those", async () => {
  const set = await cli("set", "enabled=true", "provider=openai");
  expect(set).toMatchObject({ code: 0, stderr: "" });
  expect(set.stdout).toMatch(/^provider +openai$/m);
  expect((await cli("set", "speed=1.5", "--agent", "scribe")).stdout).toMatch(/^speed +1\.5$/m);
  const own = (await cli("settings", "--agent", "scribe")).stdout;
  expect(own).toMatch(/^provider +\(instance: openai\)$/m);
  expect(own).toMatch(/^speed +1\.5$/m);
  expect((await cli("set", "speed=null", "--agent", "scribe")).stdout).toMatch(/^speed +\(instance: 1\)$/m);
  const wrong = await cli("set", "speed=9");
  expect([wrong.code, wrong.stderr.trimEnd().split("\n").length]).toEqual([1, 1]);
  expect(wrong.stderr).toContain("speed");
});

test("says a text into a file of the format that the file's name has, and lists what was spoken", async () => {
  const file = inFolder("hello.mp3");
  const said = await cli("say", "The build is green.", "--agent", "scribe", "--output", file);
  expect(said).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(file, "utf8")).toBe("<sound of The build is green.>");
  const calls = (await cli("calls", "--agent", "scribe")).stdout;
  expect(calls).toMatch(/^WHEN +AGENT +PROVIDER/);
  expect(calls).toMatch(/scribe +openai +19 /);
  expect((await cli("calls", "--agent", "engineer")).stdout).toContain("Nothing was spoken yet.");
});

test("without an agent, a file or a format it knows, it says in one line what to give, and writes nothing", async () => {
  const file = inFolder("never.txt");
  const faults = [
    [["--output", inFolder("a.mp3")], "--agent"],
    [["--agent", "scribe"], "--output"],
    [["--agent", "scribe", "--output", file], ".opus"],
    [["--agent", "nobody", "--output", inFolder("a.mp3")], "agent"],
  ] as const;
  for (const [flags, named] of faults) {
    const { code, stderr } = await cli("say", "Hello.", ...flags);
    expect([code > 0, stderr.trimEnd().split("\n").length]).toEqual([true, 1]);
    expect(stderr).toContain(named);
  }
  expect([existsSync(file), existsSync(inFolder("a.mp3"))]).toEqual([false, false]);
});

test("lists the voices of the hosted service, one of them, and those of the local one", async () => {
  expect((await cli()).stdout).toMatch(/^nova +/m);
  expect(JSON.parse((await cli("nova", "--json")).stdout)).toMatchObject({ id: "nova" });
  const local = (await cli("local")).stdout;
  expect(local).toContain(`Local speech service: ${speech.url}`);
  expect(JSON.parse((await cli("local", "--json")).stdout).items.length).toBeGreaterThan(0);
});
