/** Model providers: which are set up, and with which key. A key is tested before it is stored. */

import { Plus } from "lucide-react";
import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { List } from "../../kit/list.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Field, Input, InputField } from "../../ui/field.tsx";
import { Await } from "../../ui/note.tsx";
import { PageHeader, Section } from "../../ui/page.tsx";
import { type Column, nameColumn, Table, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { ModelDialog } from "./model-dialog.tsx";
import { OwnKeys } from "./own-keys.tsx";
import { OwnLogins } from "./own-logins.tsx";
import { ProviderDialog } from "./provider-dialog.tsx";

type Provider = Schemas["Provider"];

const SOURCES: Record<Provider["key_source"], string> = {
  user: "a user's own key",
  instance: "key kept here",
  env: "key from the environment",
  none: "no key",
};

const COLUMNS: Column<Provider>[] = [
  nameColumn("Provider", "w-2/5 min-w-40", ({ name, id, base_url }) => [name, base_url ?? id]),
  {
    title: "State",
    cell: ({ configured, enabled, key_refused }) =>
      key_refused ? (
        <Badge tone="bad">Key refused</Badge>
      ) : configured ? (
        enabled ? (
          <Badge tone="ok">Ready</Badge>
        ) : (
          <Badge>Switched off</Badge>
        )
      ) : (
        <Badge>Not set up</Badge>
      ),
  },
  {
    title: "Key",
    wide: true,
    cell: ({ masked_key, key_source }) => (
      <span className="text-sm text-dim">
        {masked_key && <code className="mr-2 font-mono">{masked_key}</code>}
        {SOURCES[key_source]}
      </span>
    ),
  },
  { title: "Models", wide: true, align: "right", cell: ({ models }) => models.length },
  {
    title: "Last used",
    wide: true,
    align: "right",
    cell: ({ last_used_on }) => <LastUsed day={last_used_on} />,
  },
  {
    title: "Default",
    wide: true,
    cell: ({ default: model }) => <span className="text-sm text-dim">{model ?? ""}</span>,
  },
];

function LastUsed({ day }: { day: string | null }) {
  if (day === null) return <span className="text-faint">–</span>;
  if (day === new Date().toISOString().slice(0, 10)) return "today";
  return (
    <time dateTime={day}>{new Date(`${day}T12:00:00Z`).toLocaleDateString(undefined, { dateStyle: "medium" })}</time>
  );
}

export default function ProvidersPage() {
  const admin = useAdmin();
  return (
    <>
      <PageHeader
        title="Model providers"
        about="Choose a provider to give it a key. The server makes the calls: no key ever enters an agent's container."
        cli="skep providers"
      />
      {admin && <InstanceProviders />}
      <OwnKeys />
      <OwnLogins />
      <UsableModels />
    </>
  );
}

function InstanceProviders() {
  const [open, setOpen] = useParam("provider");
  const [adding, setAdding] = useState(false);
  const query = api.useQuery("get", "/v1/settings/providers", { params: { query: { limit: 200 } } });
  return (
    <Section
      title="Of this server"
      actions={<Button label="Another server" icon={Plus} iconSize={15} onClick={() => setAdding(true)} />}
    >
      <Await query={query} rows={6}>
        {({ items }) => {
          const sorted = items.toSorted((a, b) => Number(b.configured) - Number(a.configured));
          const shown = items.find(({ id }) => id === open);
          return (
            <>
              <Table
                label="Providers"
                rows={sorted}
                columns={COLUMNS}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => `?provider=${id}`}
              />
              {shown && <ProviderDialog key={shown.id} provider={shown} onClose={() => setOpen("")} />}
            </>
          );
        }}
      </Await>
      {adding && (
        <AddServer
          onClose={() => setAdding(false)}
          onDone={(id) => {
            setAdding(false);
            setOpen(id);
          }}
        />
      )}
    </Section>
  );
}

/** A server that speaks OpenAI's protocol. */
function AddServer({ onClose, onDone }: { onClose(): void; onDone(id: string): void }) {
  return (
    <FormDialog
      title="A server that speaks OpenAI's protocol"
      word="Add"
      changes={["/v1/settings/providers", "/v1/models"]}
      submit={async ({ text }) => {
        const id = `custom-${text("id")}`;
        const body = { name: text("name") || null, base_url: text("base_url") };
        await must(client.PUT("/v1/settings/providers/{id}", { params: { path: { id } }, body }));
        return () => onDone(id);
      }}
      onClose={onClose}
    >
      <Field label="Short name" hint="Its models are then called custom-<short name>/<model>." name="id">
        <Input required autoFocus pattern="[a-z0-9][a-z0-9\-]{0,50}" spellCheck={false} />
      </Field>
      <InputField label="Shown as" name="name" />
      <InputField label="Address" name="base_url" required type="url" placeholder="http://127.0.0.1:8080/v1" />
    </FormDialog>
  );
}

function UsableModels() {
  const admin = useAdmin();
  const [open, setOpen] = useParam("model");
  const query = api.useQuery("get", "/v1/models", { params: { query: { limit: 200 } } });
  return (
    <Section title="Models that you can use">
      <List
        label="Models"
        query={query}
        columns={MODEL_COLUMNS}
        keyOf={({ id }) => id}
        hrefOf={admin ? ({ id }) => `?model=${encodeURIComponent(id)}` : undefined}
        empty={{
          text: "No provider is set up yet. Open one above, give it a key and test it.",
          cli: "skep providers set PROVIDER",
        }}
      />
      {admin &&
        query.data?.items
          .filter(({ id }) => id === open)
          .map((model) => <ModelDialog key={model.id} model={model} onClose={() => setOpen("")} />)}
    </Section>
  );
}

const formatPrice = (value: number | null) => (value === null ? "–" : `$${value}`);

const MODEL_COLUMNS: Column<Schemas["Model"]>[] = [
  { title: "Model", className: "w-1/2", cell: ({ id, name }) => <TwoLines first={name} second={<code>{id}</code>} /> },
  {
    title: "Window",
    align: "right",
    wide: true,
    cell: ({ context_window }) => (context_window ? context_window.toLocaleString() : "–"),
  },
  {
    title: "In, per million",
    align: "right",
    wide: true,
    cell: ({ input_usd_per_mtok }) => formatPrice(input_usd_per_mtok),
  },
  {
    title: "Out, per million",
    align: "right",
    cell: ({ output_usd_per_mtok }) => formatPrice(output_usd_per_mtok),
  },
];
