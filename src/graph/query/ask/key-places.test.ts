/** Keys in ten languages and in configuration files. */
import { expect, test } from "bun:test";
import { expectWork, processorMs } from "../../../testing/busy-machine.ts";
import { isKeyName, keyNamesOf } from "../../language/key-names.ts";
import { keyPlaces, settingPlaces } from "./key-places.ts";

const kinds = (places: Iterable<{ sets: boolean }>) => [...places].map(({ sets }) => (sets ? "sets" : "reads"));
const INSERTED = "\u0024{";

const READS = [
  ["process.env.DOCK_PORT", "DOCK_PORT"],
  ["const { HOST, DOCK_PORT: port = 1 } = process.env;", "DOCK_PORT"],
  ["import.meta.env.PORT", "PORT"],
  ["os.environ['DOCK_PORT']", "DOCK_PORT"],
  ["os.getenv('PORT', 3)", "PORT"],
  ["settings.PORT", "PORT"],
  ['os.Getenv("DOCK_PORT")', "DOCK_PORT"],
  ['Port int `env:"DOCK_PORT,required"`', "DOCK_PORT"],
  ['std::env::var("DOCK_PORT")', "DOCK_PORT"],
  ['env!("DOCK_PORT")', "DOCK_PORT"],
  [`@Value("${INSERTED}dock.port:3}")`, "dock.port"],
  ['System.getenv("DOCK_PORT")', "DOCK_PORT"],
  ['configuration["Dock:Port"]', "Dock:Port"],
  ["config('dock.port')", "dock.port"],
  ["$_ENV['DOCK_PORT']", "DOCK_PORT"],
  ['getenv("DOCK_PORT")', "DOCK_PORT"],
  ["config.dockPort", "dockPort"],
] as const;
const SETS = [
  ["process.env.DOCK_PORT = '3'", "DOCK_PORT"],
  ["os.environ['DOCK_PORT'] = '3'", "DOCK_PORT"],
  ["createEnv({ DOCK_PORT: z.string() })", "DOCK_PORT"],
] as const;
const NEITHER = [
  ["const DOCK_PORT = 3;", "DOCK_PORT"],
  ["process.env.DOCK_PORTS", "DOCK_PORT"],
  ["// the port", "port"],
  ["send(port)", "port"],
  ["process.env.A === 'no DOCK_PORT here'", "DOCK_PORT"],
] as const;

test("source: a reading, a setting, or none of both; what counts is in the index", () => {
  for (const [list, kind] of [
    [READS, ["reads"]],
    [SETS, ["sets"]],
    [NEITHER, []],
  ] as const)
    for (const [source, name] of list) {
      expect([source, ...kinds(keyPlaces(source, name))]).toEqual([source, ...kind]);
      if (kind.length > 0) expect(`${source}: ${Buffer.from(keyNamesOf(source))}`).toContain(`\n${name}\n`);
    }
});

test("configuration: keys are set, variables are read", () => {
  const places = (text: string, name: string) => kinds(settingPlaces("app.yaml", text, name));
  expect(places("DOCK_PORT=3", "DOCK_PORT")).toEqual(["sets"]);
  expect(places("FROM scratch\nENV DOCK_PORT=3\n", "DOCK_PORT")).toEqual(["sets"]);
  expect(places('{ "port": 3 }', "port")).toEqual(["sets"]);
  expect(places("dock:\n  port: 3", "port")).toEqual(["sets"]);
  expect(places("dock.port = 3", "dock.port")).toEqual(["sets"]);
  expect(places("exec run --port $PORT", "PORT")).toEqual(["reads"]);
  expect(places(`url: ${INSERTED}PORT:-3}`, "PORT")).toEqual(["reads"]);
  expect(places("support: 1\nport-range: 2\n# the port\n", "port")).toEqual([]);
});

test("a file of secrets shows names alone, also of the line that reads a name beside a secret", () => {
  const text = `HOST=db\nDATABASE_URL=postgres://user:hunter2@${INSERTED}HOST}/db\n`;
  const shown = [...settingPlaces("deploy/.env.production", text, "HOST")].map(({ text: line }) => line);
  expect(shown).toEqual(["HOST=…", "…HOST…"]);
});

test("names are bounded, and so is the work on hostile text", () => {
  expect(isKeyName("a".repeat(100))).toBe(true);
  for (const name of ["", "a b", "1x", "a".repeat(101), "$x", "a\nb"]) expect(isKeyName(name)).toBe(false);
  const many = Array.from({ length: 3_000 }, (_, i) => `"key${i}"`).join(" ");
  expect(Buffer.from(keyNamesOf(many)).toString()).toBe("\n*\n");
  expect(keyNamesOf(`"${"a".repeat(500)}"`).length).toBe(0);
  const before = processorMs();
  for (const piece of ["env.", "'a.", "{ A_B, ", INSERTED, "a", "config", "} = ", " "]) {
    const text = piece.repeat(Math.floor(200_000 / piece.length));
    keyNamesOf(text);
    for (const name of ["A_B", "a", "env"]) {
      for (const _ of keyPlaces(text, name));
      for (const _ of settingPlaces(".env", text, name));
    }
  }
  expectWork("keys of hostile text", processorMs() - before, 5_000);
});
