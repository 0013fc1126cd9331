/** Messenger bots that ask people questions and receive their answers. */
import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { List } from "../../kit/list.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Check, Field, Input, SelectField } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";

type Messenger = Schemas["Messenger"];
type Kind = Messenger["kind"];

const NAMES: Record<Kind, string> = { telegram: "Telegram", slack: "Slack", discord: "Discord", matrix: "Matrix" };
const TONES = { connected: "ok", connecting: "plain", failed: "bad", off: "plain" } as const;
const PATH = "/v1/messengers";
const kept = "One is stored. Leave empty to keep it.";

const COLUMNS: Column<Messenger>[] = [
  nameColumn("Messenger", "w-2/5 min-w-36", ({ name, kind, account }) => [
    name,
    account ? `${NAMES[kind]}, ${account}` : NAMES[kind],
  ]),
  { title: "State", cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
  { title: "Error", wide: true, cell: ({ last_error }) => <span className="text-bad">{last_error}</span> },
];

export function Messengers() {
  const admin = useAdmin();
  const [shown, show] = useParam("messenger");
  const query = usePages(PATH, { query: { limit: 100 } });
  const messenger = query.rows.find(({ id }) => id === shown);
  const add = admin && <Button label="Connect a bot" kind="primary" onClick={() => show("new")} />;
  return (
    <>
      <List
        label="Messengers"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        hrefOf={admin ? ({ id }) => `/notifications?tab=messengers&messenger=${id}` : undefined}
        bar={<div className="mb-3 flex justify-end">{add}</div>}
        empty={{
          text: "No bot is connected. With one of Telegram, Slack, Discord or Matrix, people answer from their phones.",
          action: add,
          cli: "skep messengers add telegram NAME --token-file FILE",
        }}
      />
      {admin && shown === "new" && <MessengerForm messenger={undefined} onClose={() => show("")} />}
      {admin && messenger && <MessengerForm key={messenger.id} messenger={messenger} onClose={() => show("")} />}
    </>
  );
}

function MessengerForm({ messenger, onClose }: { messenger: Messenger | undefined; onClose(): void }) {
  const [kind, setKind] = useState<Kind>(messenger?.kind ?? "telegram");
  const [isDeleting, setDeleting] = useState(false);
  if (messenger && isDeleting)
    return (
      <Confirm
        title={`Delete ${messenger.name}?`}
        word="Delete the messenger"
        onClose={() => setDeleting(false)}
        changes={[PATH]}
        act={() => must(client.DELETE("/v1/messengers/{id}", { params: { path: { id: messenger.id } } })).then(onClose)}
      >
        The channels that it carries are deleted with it.
      </Confirm>
    );
  const submit = async ({ text, isChecked }: Fields) => {
    const pickFilled = (name: string) => (text(name) ? { [name]: text(name) } : {});
    const common = {
      name: text("name"),
      enabled: isChecked("enabled"),
      ...pickFilled("server"),
      ...pickFilled("app_token"),
    };
    if (messenger) {
      const body = { ...common, ...pickFilled("token") };
      await must(client.PUT("/v1/messengers/{id}", { params: { path: { id: messenger.id } }, body }));
    } else await must(client.POST(PATH, { body: { ...common, kind, token: text("token") } }));
  };
  const before = messenger?.last_error && (
    <p className="mb-3 rounded-md bg-bad-soft px-3 py-2">{messenger.last_error}</p>
  );
  const after = messenger && <Button label="Delete" kind="danger" onClick={() => setDeleting(true)} />;
  return (
    <FormDialog
      title={messenger ? `Change ${messenger.name}` : "Connect a bot"}
      word={messenger ? "Save" : "Connect"}
      changes={[PATH]}
      submit={submit}
      onClose={onClose}
      before={before}
      after={after}
    >
      {!messenger && (
        <SelectField label="Messenger" name="kind" value={kind} onPick={setKind} options={Object.entries(NAMES)} />
      )}
      <Field label="Name" name="name">
        <Input required maxLength={200} defaultValue={messenger?.name ?? NAMES[kind]} />
      </Field>
      <Field label="Token of the bot" hint={messenger && kept} name="token">
        <Input type="password" autoComplete="off" required={!messenger} />
      </Field>
      {kind === "slack" && (
        <Field label="Token of the app" hint={messenger ? kept : "It begins with xapp-."} name="app_token">
          <Input type="password" autoComplete="off" required={!messenger} />
        </Field>
      )}
      {kind === "matrix" && (
        <Field label="Address of the server" hint={messenger && `At ${messenger.target}.`} name="server">
          <Input type="url" required={!messenger} placeholder="https://matrix.example.org" />
        </Field>
      )}
      <Check name="enabled" label="Switched on" defaultChecked={messenger?.enabled ?? true} />
    </FormDialog>
  );
}
