/** Remembering a program's voices. A script that counts its starts takes the program's place. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOUR_MS } from "../../core/clock.ts";
import { createEspeak } from "./program-speech.ts";

const folder = mkdtempSync(join(tmpdir(), "skep-espeak-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = join(folder, "espeak-ng");
const started = join(folder, "started");
function install(language: string): void {
  rmSync(program, { force: true });
  writeFileSync(
    program,
    `#!/bin/sh\necho >> '${started}'\necho 'Pty Language'\necho ' 5 ${language} --/M A_Voice x'\n`,
  );
  chmodSync(program, 0o755);
}

test("the voices of espeak-ng are asked once, again when it was replaced or time has passed, and are gone with it", async () => {
  let now = 0;
  const espeak = createEspeak({ path: folder, now: () => now });
  const ids = async () => (await espeak.voices(new AbortController().signal)).map(({ id, name }) => `${id} ${name}`);
  const starts = () => readFileSync(started, "utf8").length;
  await expect(ids()).rejects.toMatchObject({ status: 503, code: "speech_unreachable" });
  install("en");
  expect([await ids(), await ids(), starts()]).toEqual([["en A Voice"], ["en A Voice"], 1]);
  install("en-gb-scotland");
  expect([await ids(), await ids(), starts()]).toEqual([["en-gb-scotland A Voice"], ["en-gb-scotland A Voice"], 2]);
  now += HOUR_MS;
  expect([await ids(), await ids(), starts()]).toEqual([["en-gb-scotland A Voice"], ["en-gb-scotland A Voice"], 3]);
  rmSync(program);
  await expect(ids()).rejects.toMatchObject({ status: 503, code: "speech_unreachable" });
});
