/** An agent's configuration as a form. A field that is emptied gets its default value. */

import { type ReactNode, useState } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { ifMatch, type Tagged } from "../../api/tagged.ts";
import { EditForm } from "../../kit/edit-form.tsx";
import { useAdmin } from "../../session/session.tsx";
import { FactList } from "../../ui/facts.tsx";
import { Check, DataList, Field, Input, InputField, Select, TextArea } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { Panel } from "../../ui/page.tsx";

type Agent = Schemas["Agent"];
type Body = Schemas["UpdateAgentConfigBody"];

const NUMBERS = [
  ["temperature", "Temperature", "0 is predictable, 1 more varied. Empty: the model's own.", "0.1"],
  ["max_turns", "Turns at most", "Model calls of one session.", "1"],
  ["timeout_seconds", "Time limit, seconds", "Of one session.", "1"],
  ["max_attempts", "Attempts", "Of steps that are tried again.", "1"],
  ["memory_mb", "Memory, MB", "Of its container.", "1"],
  ["cpus", "Processors", "Of its container.", "0.1"],
  ["budget_usd_per_run", "Budget a run, USD", "Empty: no limit of its own.", "0.01"],
  ["budget_usd_per_day", "Budget a day, USD", "Empty: no limit of its own.", "0.01"],
] as const;

const HARNESSES = ["builtin", "opencode", "codex", "claude-code", "gemini", "qwen", "pi"] as const;

/** Parses the harness field: a name, or the words of a command. */
function harnessIn(text: string): Body["harness"] {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const name = HARNESSES.find((one) => one === words[0]);
  if (words.length === 0) return null;
  return words.length === 1 && name ? name : { acp: words };
}
const harnessText = (harness: Agent["config"]["harness"]): string =>
  typeof harness === "string" ? harness : harness.acp.join(" ");

const bodyOf = ({ choice, text, number, isChecked }: Fields): Body => ({
  name: text("name") || null,
  emoji: text("emoji") || null,
  role: text("role") || null,
  description: text("description") || null,
  model: text("model") || null,
  fallback: text("fallback") ? text("fallback").split(/[\s,]+/) : null,
  thinking_level: choice<Agent["config"]["thinking_level"]>("thinking_level"),
  harness: harnessIn(text("harness")),
  credentials: choice<Agent["config"]["credentials"]>("credentials"),
  image: text("image") || null,
  network: networkOf(choice<NetworkKind>("network"), text("network_allow")),
  host_labels: wordsIn(text("host_labels")),
  enabled: isChecked("enabled"),
  pulse_enabled: isChecked("pulse_enabled"),
  ...Object.fromEntries(NUMBERS.map(([name]) => [name, number(name) ?? null])),
});

type NetworkKind = "none" | "bridge" | "allow";

/** Splits a list with one entry per line, or entries separated by commas or spaces. */
const wordsIn = (list: string): string[] => [...new Set(list.split(/[\s,]+/).filter((entry) => entry !== ""))];
const networkOf = (kind: NetworkKind, list: string): Agent["config"]["network"] =>
  kind === "allow" ? { allow: wordsIn(list) } : kind;

function NetworkFields({ network }: { network: Agent["config"]["network"] }) {
  const [kind, setKind] = useState<NetworkKind>(typeof network === "string" ? network : "allow");
  return (
    <>
      <Field label="Network of its container" name="network">
        <Select value={kind} onPick={setKind}>
          <option value="none">none</option>
          <option value="allow">allow: only the hosts of a list</option>
          <option value="bridge">bridge: it reaches the internet</option>
        </Select>
      </Field>
      {kind === "allow" && (
        <Field
          label="Hosts it may reach"
          hint="One a line: example.org, *.example.org, example.org:8080, or npm, pypi, crates, go, debian for what the image's tool is configured with."
          name="network/allow"
        >
          <TextArea
            name="network_allow"
            rows={4}
            defaultValue={typeof network === "string" ? "" : network.allow.join("\n")}
            spellCheck={false}
          />
        </Field>
      )}
    </>
  );
}

/** The value of a field as text, for people who cannot change it. */
const shownValue = (value: unknown): string =>
  typeof value === "object" && value !== null && "allow" in value
    ? `only ${String(value.allow)}`
    : Array.isArray(value)
      ? value.join(", ") || "–"
      : String(value ?? "–");

export function AgentConfig({ tagged }: { tagged: Tagged<Agent> }) {
  const agent = tagged.value;
  const admin = useAdmin();
  if (!admin)
    return (
      <Panel className="p-4">
        <FactList
          facts={Object.entries(agent.config).map(([name, value]) => [
            name,
            name === "permissions" ? agent.rules.join("; ") || "–" : shownValue(value),
          ])}
        />
      </Panel>
    );
  const params = { path: { id: agent.id } };
  return (
    <Panel className="p-4">
      <EditForm
        tagged={tagged}
        changes={["/v1/agents"]}
        draft={`agent/${agent.id}/config`}
        long
        what={`the configuration of ${agent.name}`}
        said="Saved. It takes effect with the agent's next session."
        bodyOf={bodyOf}
        send={(body, etag) => client.PUT("/v1/agents/{id}/config", { params, body, ...ifMatch(etag) })}
        mine={(body) => JSON.stringify(body, null, 2)}
        theirs={({ config, name }) => JSON.stringify({ ...config, name }, null, 2)}
      >
        {(stored) => <ConfigFields agent={stored} />}
      </EditForm>
    </Panel>
  );
}

function ConfigFields({ agent }: { agent: Agent }) {
  const { config } = agent;
  const models = api.useQuery("get", "/v1/models", { params: { query: { limit: 200 } } });
  const renderNumbers = (from: (typeof NUMBERS)[number][0], to: (typeof NUMBERS)[number][0]) =>
    NUMBERS.slice(placeOf(from), placeOf(to) + 1).map(([name, label, hint, step]) => (
      <Field key={name} label={label} hint={hint} name={name} short>
        <Input type="number" step={step} min="0" defaultValue={config[name] ?? ""} />
      </Field>
    ));
  return (
    <>
      <Check name="enabled" defaultChecked={agent.enabled} label="Switched on" hint="Switched off, it takes no work." />
      <Check
        name="pulse_enabled"
        defaultChecked={config.pulse_enabled}
        label="Routines"
        hint="It works at set times by its routines. Switched off, they run only when somebody runs them."
      />
      <Part title="Who it is">
        <InputField label="Name" name="name" defaultValue={agent.name} />
        <InputField label="Role" name="role" defaultValue={agent.role ?? ""} />
        <InputField label="What it is for" name="description" defaultValue={agent.description} />
        <InputField label="Emoji" name="emoji" defaultValue={agent.emoji ?? ""} />
      </Part>
      <Part title="Model">
        <Field label="Model" hint="Empty: the instance's default." name="model">
          <Input list="agent-models" defaultValue={config.model ?? ""} spellCheck={false} />
        </Field>
        <Field
          label="Other models instead"
          hint="Asked in this order when its model has no quota left, does not answer or refuses. Empty: as the settings say."
          name="fallback"
        >
          <Input defaultValue={config.fallback?.join(", ") ?? ""} spellCheck={false} />
        </Field>
        <DataList id="agent-models" options={models.data?.items} />
        <Field label="Thinking" name="thinking_level">
          <Select defaultValue={config.thinking_level} options={["off", "low", "medium", "high"]} />
        </Field>
        {renderNumbers("temperature", "temperature")}
        <Field
          label="Driven by"
          hint="builtin: Skep's own loop. An external agent works in its container, with the model above."
          name="harness"
        >
          <Input list="agent-harnesses" defaultValue={harnessText(config.harness)} spellCheck={false} />
        </Field>
        <DataList id="agent-harnesses" options={HARNESSES} />
        <Field
          label="Its credentials"
          hint="own: it asks its vendor with the log-in of whoever starts it. Budgets do not hold there, and its container reaches that vendor alone."
          name="credentials"
        >
          <Select defaultValue={config.credentials} options={["gateway", "own"]} />
        </Field>
      </Part>
      <Part title="Limits and budgets">
        {renderNumbers("max_turns", "max_attempts")}
        {renderNumbers("budget_usd_per_run", "budget_usd_per_day")}
      </Part>
      <Part title="Container">
        {renderNumbers("memory_mb", "cpus")}
        <Field label="Container image" hint="Empty: the instance's." name="image">
          <Input defaultValue={config.image ?? ""} spellCheck={false} />
        </Field>
        <NetworkFields network={config.network} />
        <Field
          label="Host labels"
          hint="Where there are several hosts: it works only on one that has all of these. Empty: on any."
          name="host_labels"
        >
          <Input defaultValue={config.host_labels.join(", ")} spellCheck={false} />
        </Field>
      </Part>
    </>
  );
}

const placeOf = (wanted: (typeof NUMBERS)[number][0]): number => NUMBERS.findIndex(([name]) => name === wanted);

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <fieldset className="mt-4 border-t border-line pt-1">
    <legend className="pr-3 text-sm font-semibold">{title}</legend>
    <div className="mt-2 grid gap-x-4 sm:grid-cols-2">{children}</div>
  </fieldset>
);
