/** Speech of agents: the service, a text to try it, and what was spoken. */

import { Play } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { api, client, fieldError, must, type Schemas, siteUrl } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { List } from "../../kit/list.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Check, DataList, Field, Input, SelectField, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { count, formatBytes, formatUsd } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { PageHeader, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { PROVIDERS } from "./providers.ts";

type Settings = Schemas["TtsSettings"];
type Call = Schemas["TtsCall"];
const LOCAL = new Set(["localvoice", "piper", "espeak-ng"]);

export default function VoicePage() {
  const settings = api.useQuery("get", "/v1/admin/tts-settings");
  return (
    <>
      <PageHeader
        title="Voice"
        cli="skep voice"
        about="Texts of agents, read aloud. Nothing is spoken until it is switched on."
      />
      <Await query={settings} rows={5}>
        {(now) => (
          <div className="grid items-start gap-6 lg:grid-cols-2">
            <SettingsForm settings={now} />
            <Try settings={now} />
          </div>
        )}
      </Await>
      <Calls />
    </>
  );
}

function SettingsForm({ settings }: { settings: Settings }) {
  const action = useChange("/v1/admin/tts-settings", "/v1/tts");
  const [provider, setProvider] = useState(settings.provider);
  const health = api.useQuery("get", "/v1/tts/localvoice/health", {}, { enabled: LOCAL.has(provider ?? "") });
  return (
    <Section title="Service" panel>
      <Form
        action={action}
        word="Save"
        submit={async ({ choice, text, number, isChecked }) => {
          const body = {
            enabled: isChecked("enabled"),
            provider,
            voice_id: text("voice_id") || null,
            model: text("model") || null,
            format: choice<Settings["format"]>("format"),
            speed: number("speed") ?? 1,
            max_characters: number("max_characters") ?? settings.max_characters,
          };
          await must(client.PUT("/v1/admin/tts-settings", { body }));
          notify("Saved.");
        }}
      >
        <Check name="enabled" label="Agents may speak" defaultChecked={settings.enabled} />
        <SelectField
          label="Service"
          name="provider"
          value={provider ?? ""}
          onChange={(event) => setProvider((event.target.value || null) as Settings["provider"])}
          options={[["", "None"], ...PROVIDERS]}
        />
        {health.data && (
          <p className="mb-3 text-sm text-dim">
            <Badge tone={health.data.reachable ? "ok" : "bad"}>
              {health.data.reachable ? "answers" : "does not answer"}
            </Badge>{" "}
            {health.data.detail ?? health.data.url}
          </p>
        )}
        <Voices provider={provider} value={settings.voice_id} />
        <div className="grid gap-x-3 sm:grid-cols-2">
          <Field label="Model" hint="Empty: the service's own." name="model">
            <Input defaultValue={settings.model ?? ""} />
          </Field>
          <SelectField label="Format" name="format" defaultValue={settings.format} options={["mp3", "wav", "opus"]} />
          <Field label="Speed" name="speed">
            <Input type="number" min="0.25" max="4" step="0.05" defaultValue={settings.speed} />
          </Field>
          <Field label="Longest text, characters" name="max_characters">
            <Input type="number" min="1" defaultValue={settings.max_characters} />
          </Field>
        </div>
      </Form>
    </Section>
  );
}

interface VoicesProps {
  provider: Settings["provider"];
  value: string | null;
}

/** Voices that the service lists. Another voice can be typed, because some services do not list all of theirs. */
function Voices({ provider, value }: VoicesProps) {
  const local = LOCAL.has(provider ?? "");
  const page = { params: { query: { limit: 200 } } };
  const hosted = api.useQuery("get", "/v1/tts/voices", page, { enabled: provider !== null && !local });
  const here = api.useQuery("get", "/v1/tts/localvoice/profiles", page, { enabled: local });
  const voices = (local ? here.data?.items : hosted.data?.items) ?? [];
  return (
    <Field label="Voice" hint="Empty: the service's own." name="voice_id">
      <Input list="voices" spellCheck={false} defaultValue={value ?? ""} />
      <DataList
        id="voices"
        options={voices.map(({ id, name, languages }) => [id, `${name} ${languages.join(", ")}`])}
      />
    </Field>
  );
}

/** Speaks a text as an agent would. */
function Try({ settings }: { settings: Settings }) {
  const action = useChange("/v1/tts-calls");
  const [sound, setSound] = useState<string | null>(null);
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  useEffect(() => () => void (sound && URL.revokeObjectURL(sound)), [sound]);
  const speak = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void action.run(async () => {
      const answer = await fetch(siteUrl("/v1/internal/tts/synthesize"), {
        method: "POST",
        credentials: "same-origin",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ agent_id: form.get("agent_id"), text: form.get("text") }),
      });
      if (!answer.ok) throw await answer.json();
      setSound(URL.createObjectURL(await answer.blob()));
    });
  };
  return (
    <Section title="Try it" panel>
      <form onSubmit={speak}>
        <SelectField label="As" name="agent_id" options={agents.data?.items} />
        <Field label="Text" name="text" error={fieldError(action.error, "text")}>
          <TextArea rows={4} required defaultValue="Hello. The build is green." />
        </Field>
        <ProblemNote error={action.error} />
        <div className="flex flex-wrap items-center justify-end gap-3">
          {!settings.enabled && <span className="text-sm text-dim">Switch it on and save first.</span>}
          {sound && (
            // biome-ignore lint/a11y/useMediaCaption: what is spoken is the text above.
            <audio controls autoPlay src={sound} className="h-9 min-w-0 flex-1" />
          )}
          <Button label="Speak" type="submit" disabled={!settings.enabled} busy={action.busy} icon={Play} />
        </div>
      </form>
    </Section>
  );
}

const COLUMNS: Column<Call>[] = [
  { title: "Agent", cell: ({ agent_id }) => agent_id },
  {
    title: "Service",
    cell: ({ provider, error }) => (
      <>
        {provider} {error && <Badge tone="bad">{error.message}</Badge>}
      </>
    ),
  },
  { title: "Characters", wide: true, align: "right", cell: ({ characters }) => count(characters) },
  { title: "Size", wide: true, align: "right", cell: (call) => formatBytes(call.bytes) },
  {
    title: "Cost",
    wide: true,
    align: "right",
    cell: ({ cached, cost_usd }) => (cached ? "kept" : cost_usd === null ? "unknown" : formatUsd(cost_usd)),
  },
  { title: "When", align: "right", cell: ({ created_at }) => <Ago at={created_at} /> },
];

function Calls() {
  const query = usePages("/v1/tts-calls", { query: { limit: 30 } });
  return (
    <Section title="What was spoken">
      <List
        label="Speech"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={{
          text: "Nothing was spoken yet. Each piece of speech, its voice and its cost show here.",
          cli: 'skep voice say "Good morning" --agent lead',
        }}
      />
    </Section>
  );
}
