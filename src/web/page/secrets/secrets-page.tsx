/** Secrets: encrypted values that agents receive as environment variables while they work. Values are never shown. */

import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { ListPage } from "../../kit/list-page.tsx";
import { Actor, AgentNames } from "../../session/actor.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Check, Field, Input, InputField, Select, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Warning } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { EdgeFields, edgeIn } from "./edge-fields.tsx";

type Secret = Schemas["Secret"];
type Kind = Secret["secret_type"];
const KINDS: Record<Kind, string> = { api_key: "API key", token: "Token", ssh_key: "SSH key", custom: "Other" };

const COLUMNS: Column<Secret>[] = [
  {
    title: "Name",
    className: "w-2/5 min-w-40",
    cell: ({ name, description }) => <TwoLines first={<code>{name}</code>} second={description} />,
  },
  {
    title: "Value",
    cell: ({ masked_preview }) => <code className="font-mono text-sm text-dim">{masked_preview}</code>,
  },
  {
    title: "Kind",
    wide: true,
    cell: ({ secret_type, edge }) => (
      <TwoLines first={KINDS[secret_type]} second={edge ? `to ${edge.hosts.join(", ")} alone` : undefined} />
    ),
  },
  {
    title: "Granted to",
    wide: true,
    cell: ({ granted_agents }) =>
      granted_agents.length > 0 ? (
        <span className="text-sm">
          <AgentNames ids={granted_agents} />
        </span>
      ) : (
        <Badge tone="wait">nobody</Badge>
      ),
  },
  {
    title: "Last use",
    wide: true,
    cell: ({ last_used_at, last_used_by }) =>
      last_used_at ? (
        <TwoLines first={<Ago at={last_used_at} />} second={last_used_by && <Actor id={last_used_by} />} />
      ) : (
        "never"
      ),
  },
  { title: "Changed", wide: true, align: "right", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export default function SecretsPage() {
  const admin = useAdmin();
  const [adding, setAdding] = useState(false);
  const [open, setOpen] = useParam("secret");
  const query = usePages("/v1/secrets", { query: { limit: 100 } });
  const shown = query.rows.find(({ id }) => id === open);
  const add = admin && (
    <Button label="Add a secret" kind="primary" icon={Plus} iconSize={15} onClick={() => setAdding(true)} />
  );
  return (
    <ListPage
      title="Secrets"
      about="Sealed here, given to the agents you name as environment variables while they work, masked in everything they write."
      cli="skep secrets"
      actions={add}
      query={query}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      {...(admin ? { hrefOf: ({ id }: Secret) => `?secret=${id}` } : {})}
      lines={4}
      empty={{
        text: (
          <>
            <KeyRound aria-hidden className="mx-auto mb-2 text-faint" />
            There is no secret. Agents work without any.
          </>
        ),
        action: add,
        cli: "skep secrets set NAME",
      }}
    >
      {adding && <AddSecret onClose={() => setAdding(false)} />}
      {shown && admin && <EditSecret key={shown.id} secret={shown} onClose={() => setOpen("")} />}
    </ListPage>
  );
}

function AddSecret({ onClose }: { onClose(): void }) {
  return (
    <FormDialog
      title="Add a secret"
      word="Add"
      changes={["/v1/secrets"]}
      submit={async (fields) => {
        const { choice, text, raw } = fields;
        const body: Schemas["CreateSecretBody"] = {
          name: text("name"),
          description: text("description"),
          secret_type: choice<Kind>("secret_type"),
          value: raw("value"),
          edge: edgeIn(fields),
        };
        const made = await must(client.POST("/v1/secrets", { body }));
        notify(made.warning ?? "Sealed. Grant it to an agent that needs it.");
      }}
      onClose={onClose}
    >
      <Field label="Name" hint="Also the environment variable's name." name="name">
        <Input required autoFocus pattern="[A-Za-z_][A-Za-z0-9_]*" spellCheck={false} placeholder="DEPLOY_TOKEN" />
      </Field>
      <InputField label="Description" name="description" />
      <Field label="Kind">
        <KindSelect />
      </Field>
      <Field label="Value" hint="It is never shown again." name="value">
        <TextArea rows={3} required spellCheck={false} autoComplete="off" className="font-mono text-sm!" />
      </Field>
      <EdgeFields edge={null} />
    </FormDialog>
  );
}

const KindSelect = ({ value = "token" }: { value?: Kind }) => (
  <Select name="secret_type" defaultValue={value} options={Object.entries(KINDS)} />
);

function EditSecret({ secret, onClose }: { secret: Secret; onClose(): void }) {
  const action = useChange("/v1/secrets");
  const [deleting, setDeleting] = useState(false);
  if (deleting)
    return (
      <Confirm
        title={`Delete ${secret.name}?`}
        word="Delete the secret"
        onClose={onClose}
        changes={["/v1/secrets"]}
        act={() => client.DELETE("/v1/secrets/{id}", { params: { path: { id: secret.id } } })}
      >
        The value and its grants are removed for good. Agents that are working keep the value until they end.
      </Confirm>
    );
  return (
    <Dialog title={secret.name} onClose={onClose}>
      {secret.warning && <Warning>{secret.warning}</Warning>}
      <Grants secret={secret} />
      <Form
        action={action}
        word="Save"
        submit={async (fields) => {
          const { choice, text, raw } = fields;
          const body = {
            description: text("description"),
            secret_type: choice<Kind>("secret_type"),
            ...(raw("value") ? { value: raw("value") } : {}),
            edge: edgeIn(fields, secret.edge),
          };
          await must(client.PUT("/v1/secrets/{id}", { params: { path: { id: secret.id } }, body }));
          notify(raw("value") ? "The new value is sealed." : "Saved.");
          onClose();
        }}
      >
        <InputField label="Description" name="description" defaultValue={secret.description} />
        <Field label="Kind">
          <KindSelect value={secret.secret_type} />
        </Field>
        <Field label="New value" hint="Leave empty to keep the current one." name="value">
          <TextArea rows={2} spellCheck={false} autoComplete="off" className="font-mono text-sm!" />
        </Field>
        <EdgeFields edge={secret.edge} />
        <Button label="Delete…" kind="danger" className="mb-2" onClick={() => setDeleting(true)} />
      </Form>
    </Dialog>
  );
}

function Grants({ secret }: { secret: Secret }) {
  const action = useChange("/v1/secrets", "/v1/agents");
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const set = (agent_id: string, granted: boolean) =>
    action.run(async () => {
      const params = { path: { id: secret.id, agent_id } };
      await must(
        granted
          ? client.POST("/v1/secrets/{id}/grant/{agent_id}", { params })
          : client.DELETE("/v1/secrets/{id}/grant/{agent_id}", { params }),
      );
    });
  return (
    <fieldset className="mb-4">
      <legend className="mb-1 text-sm font-medium">Granted to</legend>
      <ProblemNote error={action.error} />
      <div className="grid max-h-52 overflow-y-auto sm:grid-cols-2">
        {(agents.data?.items ?? []).map(({ id, name }) => (
          <Check
            key={id}
            label={name}
            checked={secret.granted_agents.includes(id)}
            disabled={action.busy}
            onChange={(event) => set(id, event.target.checked)}
          />
        ))}
      </div>
    </fieldset>
  );
}
