/** The form for a new or existing notification channel. Its address, token and key are never shown again. */

import { useState } from "react";
import { client, must } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { FormDialog, stay } from "../../kit/form-dialog.tsx";
import { useAdmin, useMe } from "../../session/session.tsx";
import { Check, Field, FieldError, Input, InputField, Select, SelectField } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { ProjectField } from "../../ui/pickers.tsx";
import { type Channel, KINDS, type LinkCode } from "./channels.ts";
import { CodeOnce, ShownOnce } from "./shown-once.tsx";

type Kind = Channel["kind"];

/** The kinds that this form can create. A browser's channel is created by the button for this device. */
const { push: _, ...MADE_HERE } = KINDS;

const WHEN: [Channel["on"][number], string][] = [
  ["waiting", "A run waits for a person"],
  ["failed", "A run failed"],
  ["ended", "A run ended: succeeded, failed or was cancelled"],
];
const kept = "One is stored. Leave empty to keep it.";

interface Props {
  /** The channel to change; undefined for a new one. */
  channel: Channel | undefined;
  onClose(): void;
  /** Called with the id of a new channel. */
  onMade?(id: string): void;
}

export function ChannelForm({ channel, onClose, onMade }: Props) {
  const admin = useAdmin();
  const [kind, setKind] = useState<Kind>(channel?.kind ?? "ntfy");
  const [made, setMade] = useState<{ id: string; secret: string }>();
  const [linking, setLinking] = useState<{ id: string; link: LinkCode }>();
  if (made)
    return (
      <ShownOnce
        title="Key of the webhook"
        text={made.secret}
        copy="Copy the key"
        word="I have kept it"
        onClose={() => onMade?.(made.id)}
      >
        Deliveries are signed with this key. It is shown only now.
      </ShownOnce>
    );
  if (linking) return <CodeOnce link={linking.link} onClose={() => onMade?.(linking.id)} />;
  const submit = async (fields: Fields) => {
    const { text, isChecked } = fields;
    const common = {
      name: text("name"),
      on: WHEN.map(([id]) => id).filter((id) => isChecked(id)),
      enabled: isChecked("enabled"),
      ...secretsOf(kind, fields),
    };
    const project = text("project_id");
    if (channel) {
      const params = { path: { id: channel.id } };
      const body = { ...common, project_id: project || null };
      await must(client.PUT("/v1/notification-channels/{id}", { params, body }));
      return onClose;
    }
    const whose = isChecked("everyone") ? ("everyone" as const) : ("mine" as const);
    const body = { ...common, kind, whose, ...(project ? { project_id: project } : {}) };
    const { id, secret, link } = await must(client.POST("/v1/notification-channels", { body }));
    if (!secret && !link) return () => onMade?.(id);
    if (secret) setMade({ id, secret });
    else if (link) setLinking({ id, link });
    return stay;
  };
  return (
    <FormDialog
      title={channel ? `Change ${channel.name}` : "Add a channel"}
      word={channel ? "Save" : "Add"}
      changes={["/v1/notification-channels"]}
      submit={submit}
      onClose={onClose}
    >
      {!channel && (
        <SelectField label="Kind" name="kind" value={kind} onPick={setKind} options={Object.entries(MADE_HERE)} />
      )}
      <InputField label="Name" name="name" required maxLength={200} defaultValue={channel?.name} placeholder="phone" />
      <Target kind={kind} channel={channel} />
      <fieldset className="mb-3">
        <legend className="mb-1 text-sm font-medium">When</legend>
        {WHEN.map(([id, word]) => (
          <Check key={id} name={id} label={word} defaultChecked={channel ? channel.on.includes(id) : id !== "ended"} />
        ))}
        <FieldError name="on" />
      </fieldset>
      <ProjectField none="All projects" defaultValue={channel?.project_id} />
      {admin && !channel && <Check name="everyone" label="For everyone's runs" hint="Otherwise for yours alone." />}
      <Check name="enabled" label="Switched on" defaultChecked={channel?.enabled ?? true} />
    </FormDialog>
  );
}

/** The typed secrets. A field that is left empty does not change the stored value. */
function secretsOf(kind: Kind, { text, isChecked }: Fields) {
  const pickFilled = (name: string) => (text(name) ? { [name]: text(name) } : {});
  if (kind === "push") return {};
  if (kind === "messenger") return pickFilled("messenger_id");
  if (kind === "ntfy") return { ...pickFilled("url"), ...pickFilled("token"), answers: isChecked("answers") };
  if (kind === "mail") return pickFilled("to");
  if (kind === "apprise") return pickFilled("url");
  return { ...pickFilled("url"), ...pickFilled(kind === "webhook" ? "secret" : "token") };
}

const ADDRESSES: Record<Exclude<Kind, "mail" | "messenger" | "push">, { hint: string; example: string }> = {
  ntfy: {
    hint: "Of the topic. Everyone who knows the name of an open topic can read it, so make it long.",
    example: "https://ntfy.sh/my-long-secret-topic",
  },
  gotify: { hint: "Of your Gotify server.", example: "https://gotify.example.org" },
  apprise: {
    hint: "Of Apprise's API, with the key of your services.",
    example: "https://apprise.example.org/notify/KEY",
  },
  webhook: { hint: "It gets a POST of JSON for each notification.", example: "https://hooks.example.com/skep" },
};

interface TargetProps {
  kind: Kind;
  channel: Channel | undefined;
}

function Target({ kind, channel }: TargetProps) {
  const admin = useAdmin();
  const { email } = useMe();
  if (kind === "push") return null;
  if (kind === "messenger") return channel ? null : <MessengerField />;
  if (kind === "mail")
    return (
      <Field
        label="Mailbox"
        hint={
          admin
            ? `Left empty: ${channel?.target ?? email ?? "your account's own"}.`
            : "Mail goes to your account's own."
        }
        name="to"
      >
        <Input type="email" disabled={!admin} />
      </Field>
    );
  return (
    <>
      <Field
        label="Address"
        hint={channel ? `At ${channel.target}. Left empty, it stays.` : ADDRESSES[kind].hint}
        name="url"
      >
        <Input type="url" required={!channel} spellCheck={false} placeholder={ADDRESSES[kind].example} />
      </Field>
      {(kind === "ntfy" || kind === "gotify") && (
        <Field
          label={kind === "ntfy" ? "Access token" : "Token of the application"}
          hint={channel ? kept : kind === "ntfy" ? "For a protected topic." : "Make an application in Gotify."}
          name="token"
        >
          <Input type="password" autoComplete="off" required={kind === "gotify" && !channel} />
        </Field>
      )}
      {kind === "ntfy" && (
        <Check
          name="answers"
          label="Buttons that answer"
          hint="Whoever can read the topic can press them: protect it."
          defaultChecked={channel?.answers ?? false}
        />
      )}
      {kind === "webhook" && (
        <Field
          label="Key"
          hint={channel ? kept : "Signs each delivery. Left empty, one is made and shown once."}
          name="secret"
        >
          <Input type="password" autoComplete="off" minLength={24} />
        </Field>
      )}
    </>
  );
}

function MessengerField() {
  const query = usePages("/v1/messengers", { query: { limit: 100 } });
  return (
    <Field label="Messenger" hint="Administrators connect its bot under Messengers." name="messenger_id">
      <Select required options={query.rows.map(({ id, name, kind }) => [id, `${name} (${kind})`])} />
    </Field>
  );
}
