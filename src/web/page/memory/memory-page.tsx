/** What agents remember: their vaults, and the search that agents themselves use. */

import { Settings2 } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { List } from "../../kit/list.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Check, Field, Input } from "../../ui/field.tsx";
import { FilterBar, FilterSelect, NoMatch, SearchInput } from "../../ui/filter.tsx";
import { Form } from "../../ui/form.tsx";
import { formatBytes, pluralize } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { PageHeader, Panel, Section } from "../../ui/page.tsx";
import type { Column } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { entryHref, type Hit, previewOf, useVaultName } from "./memory.ts";

type Vault = Schemas["MemoryVault"];

const VaultName = ({ agent }: { agent: string }) => <>{useVaultName()(agent)}</>;

const COLUMNS: Column<Vault>[] = [
  {
    title: "Vault",
    className: "w-[50%]",
    cell: ({ agent_id }) => (
      <span className="font-medium">
        <VaultName agent={agent_id} />
      </span>
    ),
  },
  {
    title: "Entries",
    cell: ({ entries, unconfirmed }) => (
      <span className="inline-flex flex-wrap items-center gap-2 tabular-nums">
        {entries}
        {unconfirmed > 0 && <Badge tone="wait">{unconfirmed} unconfirmed</Badge>}
      </span>
    ),
  },
  { title: "Size", wide: true, align: "right", cell: ({ size_bytes }) => formatBytes(size_bytes) },
  { title: "Changed", align: "right", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export default function MemoryPage() {
  const [q, setQ] = useParam("q");
  const [agent, setAgent] = useParam("agent");
  const [settings, setSettings] = useState(false);
  const admin = useAdmin();
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const vaults = usePages("/v1/memory/vaults", { query: { limit: 100 } });
  return (
    <>
      <PageHeader
        title="Memory"
        cli="skep memory"
        about="What agents have noted to do better next time. The entries are files that you can read and correct."
        actions={admin && <Button label="Scores" icon={Settings2} onClick={() => setSettings(true)} />}
      />
      <FilterBar>
        <SearchInput value={q} onChange={setQ} label="Search as an agent does" />
        <FilterSelect
          label="Whose memory"
          value={agent}
          onChange={setAgent}
          options={[
            { value: "", label: "All vaults" },
            ...(agents.data?.items ?? []).map(({ id, name }) => ({ value: id, label: `${name} and shared` })),
          ]}
        />
      </FilterBar>
      {q ? (
        <Results q={q} agent={agent} />
      ) : (
        <List
          query={vaults}
          label="Vaults"
          columns={COLUMNS}
          keyOf={({ agent_id }) => agent_id}
          hrefOf={({ agent_id }) => `/memory/${agent_id}`}
          empty={{
            text: "No agent has noted anything yet. They do so while they work.",
            action: <ButtonLink href="/runs/new">Start a run</ButtonLink>,
            cli: "skep memory",
          }}
        />
      )}
      {settings && <ScoreSettings onClose={() => setSettings(false)} />}
    </>
  );
}

/** The search results, each with the reason for its rank. */
function Results({ q, agent }: { q: string; agent: string }) {
  const query = api.useQuery("get", "/v1/memory/search", {
    params: { query: { query: q, limit: 20, ...(agent ? { agent_id: agent } : {}) } },
  });
  return (
    <Section title="Found, best first">
      <Await query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <NoMatch clear={["q"]} word="Clear the search">
              Nothing in memory fits these words.
            </NoMatch>
          ) : (
            <Panel>
              {items.map((hit) => (
                <HitRow key={`${hit.agent_id}/${hit.entry}`} hit={hit} />
              ))}
            </Panel>
          )
        }
      </Await>
    </Section>
  );
}

const formatPart = (value: number) => value.toFixed(2);

function HitRow({ hit: { agent_id, entry, title, type, snippet, trusted, score, parts } }: { hit: Hit }) {
  return (
    <Link
      href={entryHref(agent_id, entry)}
      data-row
      className="block border-b border-line px-4 py-3 last:border-0 hover:bg-hover"
    >
      <span className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{title}</span>
        <Badge>{type}</Badge>
        {!trusted && <Badge tone="wait">unconfirmed: not in prompts</Badge>}
        <span className="ml-auto text-xs text-faint">
          <VaultName agent={agent_id} />
        </span>
      </span>
      <span className="mt-1 line-clamp-3 text-dim">{previewOf(snippet)}</span>
      <span className="mt-1 block text-xs text-faint tabular-nums">
        score {formatPart(score)} · text {formatPart(parts.text)} · usefulness {formatPart(parts.usefulness)} · recency{" "}
        {formatPart(parts.recency)} · frequency {formatPart(parts.frequency)}
      </span>
    </Link>
  );
}

const NUMBERS = [
  ["usefulness_weight", "Weight of usefulness", "0.05", "The three weights sum to 1."],
  ["recency_weight", "Weight of recency", "0.05", ""],
  ["frequency_weight", "Weight of frequency", "0.05", ""],
  ["half_life_days", "Half-life, days", "1", "After this long an entry counts half as recent."],
  ["recency_floor", "Least recency", "0.05", ""],
  ["frequency_cap", "Most accesses that count", "1", ""],
  ["recall_tokens", "Tokens of memory in a prompt", "1", ""],
] as const;

function ScoreSettings({ onClose }: { onClose(): void }) {
  const action = useChange("/v1/memory", "/v1/memory-scores");
  const query = api.useQuery("get", "/v1/memory-scores/settings");
  return (
    <Dialog title="How memories are scored" onClose={onClose}>
      <Await query={query}>
        {(settings) => (
          <Form
            action={action}
            word="Save"
            onCancel={onClose}
            submit={async ({ number, isChecked }) => {
              const numbers = Object.fromEntries(NUMBERS.map(([name]) => [name, number(name)]));
              const body = { ...numbers, consolidate_daily: isChecked("consolidate_daily") };
              await must(client.PUT("/v1/memory-scores/settings", { body }));
              onClose();
            }}
          >
            <div className="grid gap-x-3 sm:grid-cols-2">
              {NUMBERS.map(([name, label, step, hint]) => (
                <Field key={name} label={label} hint={hint} name={name}>
                  <Input name={name} type="number" step={step} min="0" required defaultValue={settings[name]} />
                </Field>
              ))}
            </div>
            <Check
              name="consolidate_daily"
              label="Go through changed vaults once a day"
              hint="What says the same is merged, what contradicts is listed."
              defaultChecked={settings.consolidate_daily}
            />
            <p className="mb-2 text-sm text-dim">
              {pluralize(settings.recall_tokens, "token")} of a prompt at most are memory.{" "}
              <button
                type="button"
                className="underline"
                onClick={() =>
                  action.run(async () => {
                    const params = { query: { reset: "true" as const } };
                    await must(client.PUT("/v1/memory-scores/settings", { params, body: {} }));
                    onClose();
                  })
                }
              >
                Back to the defaults
              </button>
            </p>
          </Form>
        )}
      </Await>
    </Dialog>
  );
}
