/** One vault: its entries, those that wait for confirmation, and the links between them. */

import { Pin, Plus } from "lucide-react";
import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { api, client, must } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { List } from "../../kit/list.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Check, Field, InputField, SelectField, TextArea } from "../../ui/field.tsx";
import { FilterBar, FilterSelect } from "../../ui/filter.tsx";
import { shellWord } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { type Column, nameColumn, Table } from "../../ui/table.tsx";
import { useParam, Views } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { Contradictions } from "./contradictions.tsx";
import { EntryView } from "./entry-view.tsx";
import { ENTRY_TYPES, type Entry, entryHref, previewOf, useVaultName } from "./memory.ts";

export default function VaultPage() {
  const { agent = "" } = useParams<{ agent: string }>();
  const [entry] = useParam("entry");
  return entry ? <EntryView key={entry} agent={agent} id={entry} /> : <Vault agent={agent} />;
}

const COLUMNS: Column<Entry>[] = [
  nameColumn("Entry", "w-[52%] min-w-44", ({ title, content }) => [
    title,
    previewOf(content.slice(0, 400)).slice(0, 200),
  ]),
  {
    title: "State",
    cell: ({ type, trusted, pinned, problem, superseded_by, owner_id }) => (
      <span className="flex flex-wrap items-center gap-1">
        <Badge>{type}</Badge>
        {problem && <Badge tone="bad">fault</Badge>}
        {!trusted && !problem && <Badge tone="wait">unconfirmed</Badge>}
        {superseded_by && <Badge>superseded</Badge>}
        {owner_id && <Badge tone="run">private</Badge>}
        {pinned && <Pin role="img" aria-label="pinned" size={13} className="text-accent" />}
      </span>
    ),
  },
  { title: "Score", wide: true, align: "right", cell: ({ score }) => score.toFixed(2) },
  { title: "Changed", wide: true, align: "right", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

function Vault({ agent }: { agent: string }) {
  const [adding, setAdding] = useState(false);
  return (
    <>
      <PageHeader
        title={useVaultName()(agent)}
        cli={`skep memory ${shellWord(agent)}`}
        crumbs={[["/memory", "Memory"]]}
        actions={<Button label="New entry" kind="primary" icon={Plus} onClick={() => setAdding(true)} />}
      />
      <Views
        label="Views of the vault"
        views={[
          { id: "entries", title: "Entries", view: <Entries agent={agent} add={() => setAdding(true)} /> },
          { id: "links", title: "Links", view: <Links agent={agent} /> },
          { id: "contradictions", title: "Contradictions", view: <Contradictions agent={agent} /> },
        ]}
      />
      {adding && <NewEntry agent={agent} onClose={() => setAdding(false)} />}
    </>
  );
}

function Entries({ agent, add }: { agent: string; add(): void }) {
  const [type, setType] = useParam<Entry["type"]>("type");
  const [state, setState] = useParam("state");
  const query = usePages("/v1/memory/vaults/{agent_id}", {
    path: { agent_id: agent },
    query: {
      limit: 100,
      ...(type ? { type } : {}),
      ...(state ? { unconfirmed: true } : {}),
    },
  });
  return (
    <>
      <FilterBar>
        <FilterSelect
          label="Type"
          value={type}
          onChange={setType}
          options={[{ value: "", label: "Any type" }, ...ENTRY_TYPES.map((one) => ({ value: one, label: one }))]}
        />
        <FilterSelect
          label="State"
          value={state}
          onChange={setState}
          options={[
            { value: "", label: "Any state" },
            { value: "unconfirmed", label: "Unconfirmed" },
          ]}
        />
      </FilterBar>
      <List
        label="Entries"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => entryHref(agent, id)}
        lines={6}
        filters={["type", "state"]}
        noMatch="No entry matches."
        empty={{
          text: "This vault is empty. The agent notes here what it learns, and so can you.",
          action: <Button onClick={add}>Write the first</Button>,
        }}
      />
    </>
  );
}

/** Lists each link of the vault, broken ones first. */
function Links({ agent }: { agent: string }) {
  const query = api.useQuery("get", "/v1/memory/graph/{agent_id}", { params: { path: { agent_id: agent } } });
  return (
    <Await query={query}>
      {({ nodes, links, truncated }) => {
        const titles = new Map(nodes.map(({ entry, title }) => [entry, title]));
        const rows = links.toSorted((a, b) => Number(b.broken) - Number(a.broken));
        if (rows.length === 0)
          return (
            <Empty action={<ButtonLink href="?">See the entries</ButtonLink>}>
              No entry links to another. Write [[entry]] in a text to link to that entry.
            </Empty>
          );
        return (
          <>
            <Table
              label="Links"
              rows={rows}
              columns={[
                { title: "From", cell: ({ from }) => titles.get(from) ?? from },
                {
                  title: "How",
                  cell: ({ kind, broken }) => (
                    <span className="inline-flex flex-wrap items-center gap-1.5 whitespace-nowrap">
                      {kind === "link" ? "links to" : "was superseded by"}
                      {broken && <Badge tone="bad">not there</Badge>}
                    </span>
                  ),
                },
                {
                  title: "To",
                  cell: ({ to }) => (
                    <span className="block max-md:w-28 max-md:whitespace-normal">
                      {titles.get(to) ?? <code className="font-mono text-xs">{to}</code>}
                    </span>
                  ),
                },
              ]}
              keyOf={({ from, to, kind }) => `${from} ${kind} ${to}`}
              hrefOf={({ from }) => entryHref(agent, from)}
            />
            {truncated && <p className="mt-2 text-sm text-dim">The first 5,000 entries are shown.</p>}
          </>
        );
      }}
    </Await>
  );
}

function NewEntry({ agent, onClose }: { agent: string; onClose(): void }) {
  const admin = useAdmin();
  const [, navigate] = useLocation();
  return (
    <FormDialog
      title="New entry"
      word="Write it"
      changes={["/v1/memory", "/v1/memory-scores"]}
      submit={async ({ choice, text, raw, isChecked, words }) => {
        const body = {
          title: text("title"),
          content: raw("content"),
          type: choice<Entry["type"]>("type"),
          pinned: isChecked("pinned"),
          tags: words("tags"),
          ...(isChecked("private") ? { private: true } : {}),
        };
        const call = client.POST("/v1/memory/vaults/{agent_id}/entries", {
          params: { path: { agent_id: agent } },
          body,
        });
        const { id } = await must(call);
        return () => navigate(entryHref(agent, id));
      }}
      onClose={onClose}
    >
      <InputField label="Title" name="title" required maxLength={200} />
      <SelectField label="Type" name="type" defaultValue="fact" options={ENTRY_TYPES} />
      <Field label="Content" hint="Markdown. [[entry]] links to another entry." name="content">
        <TextArea rows={6} required />
      </Field>
      <InputField label="Tags" name="tags" />
      <Check name="pinned" label="Pinned" hint="Always in the agent's prompt, as far as there is room." />
      {agent !== "shared" && (
        <Check
          name="private"
          label="For me alone"
          hint="Recalled only in work for you."
          defaultChecked={!admin}
          disabled={!admin}
        />
      )}
    </FormDialog>
  );
}
