/** `skep voice`: agents' voices and their settings. It can speak a text into a file and list what speech cost. */

import { writeFileSync } from "node:fs";
import { extname } from "node:path";
import type { RowOf, Schemas } from "../../api/types.ts";
import { badUsage } from "../../core/errors.ts";
import { assertPath, readPairs, readText } from "../read-input.ts";
import { type Column, costText, fieldLines, tableLines, timeText } from "../terminal/table.ts";
import { countOf, listItems, queryOf } from "./find.ts";
import { type Answer, type Call, type Flags, type OptionSpec, type Resource, verbMakers } from "./resource.ts";

type List = "/v1/tts/voices";
type Item = RowOf<List>;
const { actOnList } = verbMakers<List>();
type Settings = Schemas["TtsSettings"] | Schemas["AgentTtsSettings"];

const OF_AGENT: OptionSpec = {
  flags: "--agent <agent>",
  about: "use the settings of this agent instead of the instance's",
};
const FORMATS: Readonly<Record<string, string>> = { ".mp3": "mp3", ".wav": "wav", ".opus": "opus", ".ogg": "opus" };

const VOICES: readonly Column<Pick<Item, "id" | "name" | "provider" | "languages">>[] = [
  { head: "VOICE", of: ({ id }) => id },
  { head: "NAME", of: ({ name }) => name, shrinks: true },
  { head: "PROVIDER", of: ({ provider }) => provider },
  { head: "LANGUAGES", of: ({ languages }) => languages.join(", "), shrinks: true },
];
const CALLS: readonly Column<RowOf<"/v1/tts-calls">>[] = [
  { head: "WHEN", of: ({ created_at }) => timeText(created_at) },
  { head: "AGENT", of: ({ agent_id }) => agent_id },
  { head: "PROVIDER", of: ({ provider }) => provider },
  { head: "CHARACTERS", of: ({ characters }) => characters, right: true },
  { head: "COST", of: ({ cost_usd }) => (cost_usd === null ? "unknown" : costText(cost_usd)), right: true },
  {
    head: "RESULT",
    of: ({ error, cached }) => (error ? error.message : cached ? "from the cache" : "made"),
    style: ({ error }) => (error ? "red" : undefined),
    shrinks: true,
  },
];

export const voice: Resource<List> = {
  name: "voice",
  one: "voice",
  about: "list the voices of the hosted speech service, or show one",
  path: "/v1/tts/voices",
  idOf: ({ id }) => id,
  namesOf: ({ name }) => [name],
  columns: VOICES,
  empty: "The hosted speech service has no voices. Those of this machine: skep voice local",
  verbs: [
    actOnList("local", "check whether the local speech service answers, and list its voices", async ({ client }) => {
      const health = await client.call("GET", "/v1/tts/localvoice/health");
      const at = health["url"] ?? health["detail"];
      if (!health["reachable"])
        return {
          json: { ...health, items: [] },
          text: `The local speech service does not answer: ${health["detail"]}`,
          code: 1,
        };
      const { items } = await listItems(client, "/v1/tts/localvoice/profiles", MOST_VOICES);
      return { json: { ...health, items }, text: [`Local speech service: ${at}`, ...tableLines(VOICES, items)] };
    }),
    actOnList("settings", "show the voice settings", {
      options: [OF_AGENT],
      async run({ client, flags }) {
        const settings = await client.ask<Settings>("GET", settingsPath(flags));
        return { json: settings, text: settingsLines(settings) };
      },
    }),
    actOnList(
      "set",
      "change voice settings, e.g. enabled=true provider=espeak-ng; null resets an agent's to the instance's",
      {
        args: [{ name: "<field=value...>", about: "fields as `skep voice settings` shows them" }],
        options: [OF_AGENT],
        async run({ client, flags, args }) {
          const settings = await client.ask<Settings>("PUT", settingsPath(flags), readPairs(args));
          return { json: settings, text: settingsLines(settings) };
        },
      },
    ),
    actOnList("say", "speak a text with the voice of an agent, and write the sound to a file", {
      args: [{ name: "<text>", about: "text to speak: plain text or Markdown; - for standard input" }],
      options: [
        { flags: "--agent <agent>", about: "agent whose voice to use" },
        { flags: "--output <file>", about: "file to write; its ending, .mp3, .wav or .opus, sets the format" },
        { flags: "--voice <voice>", about: "voice to use (default: the one in the settings)" },
      ],
      run: speak,
    }),
    actOnList("calls", "list the calls to speech services with their cost, newest first", {
      options: [{ flags: "--agent <agent>", about: "only calls of this agent" }],
      run: listCalls,
    }),
  ],
};

const settingsPath = ({ agent }: Flags): string =>
  agent === undefined ? "/v1/admin/tts-settings" : `/v1/agents/${encodeURIComponent(agent)}/tts-settings`;

/** An agent's settings. For each unset one, the value that applies instead is shown. */
function settingsLines(settings: Settings): string[] {
  const { agent_id: _, effective, ...fields } = { agent_id: undefined, effective: undefined, ...settings };
  const inForce = new Map<string, unknown>(Object.entries(effective ?? {}));
  const formatValue = (name: string, value: unknown) =>
    value === null ? (effective ? `(instance: ${inForce.get(name) ?? "none"})` : "(none)") : value;
  return fieldLines(Object.entries(fields).map(([name, value]) => [name, formatValue(name, value)] as const));
}

/** How many voices are read: the whole list. */
const MOST_VOICES = 1_000;

async function speak({ client, args: [given = ""], flags }: Call): Promise<Answer> {
  const { agent, output, voice: voice_id } = flags;
  if (agent === undefined) throw badUsage("Name the agent who speaks: --agent AGENT.");
  if (output === undefined) throw badUsage("Name the file for the sound: --output hello.mp3.");
  assertPath(output);
  const format = FORMATS[extname(output).toLowerCase()];
  if (!format) throw badUsage(`${output}: name a file that ends with .mp3, .wav or .opus.`);
  const text = given === "-" ? await readText("-") : given;
  const body = { text, agent_id: agent, format, voice_id };
  const { bytes, headers } = await client.file("/v1/internal/tts/synthesize", body);
  writeFileSync(output, bytes);
  const json = { file: output, call_id: headers.get("x-tts-call-id"), size_bytes: bytes.byteLength };
  return { json, text: `${output}: ${bytes.byteLength} bytes` };
}

async function listCalls({ client, flags }: Call): Promise<Answer> {
  const query = queryOf({ agent_id: flags["agent"] });
  const found = await listItems(client, "/v1/tts-calls", countOf(flags["limit"]), query);
  return { json: found, text: found.items.length === 0 ? "Nothing was spoken yet." : tableLines(CALLS, found.items) };
}
