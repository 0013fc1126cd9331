/** A new or existing sign-on provider. It is tested before it is saved. */

import { useRef, useState } from "react";
import { client, must, type Schemas, siteUrl } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Check, Field, Input, InputField } from "../../ui/field.tsx";
import { type Fields, Form, fieldsOf } from "../../ui/form.tsx";
import { CopyButton } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { GroupFields, groupRolesOf } from "./sign-on-groups.tsx";
import { LookFields, lookOf } from "./sign-on-look.tsx";

type Provider = Schemas["Oidc"];
type Tested = Schemas["TestOidcAnswer"];

const SCOPES = "openid email profile";

function bodyOf(fields: Fields) {
  const { text, raw, isChecked, words, entries } = fields;
  return {
    name: text("name"),
    issuer: text("issuer"),
    client_id: text("client_id"),
    scopes: words("scopes"),
    auto_create: isChecked("auto_create"),
    allowed_domains: words("allowed_domains"),
    role_claim: text("role_claim") || null,
    admin_values: entries("admin_values"),
    group_claim: text("group_claim"),
    group_roles: groupRolesOf(fields),
    button: lookOf(fields),
    enabled: isChecked("enabled"),
    ...(raw("client_secret") ? { client_secret: raw("client_secret") } : {}),
  };
}

export function SignOnForm({ provider, onClose }: { provider: Provider | undefined; onClose(): void }) {
  const action = useChange("/v1/auth/oidc");
  const trial = useChange();
  const [tested, setTested] = useState<Tested>();
  const [deleting, setDeleting] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  if (deleting && provider)
    return (
      <Confirm
        title={`Remove ${provider.name}?`}
        word="Remove the provider"
        onClose={onClose}
        changes={["/v1/auth/oidc"]}
        act={() => client.DELETE("/v1/auth/oidc/{slug}", { params: { path: { slug: provider.slug } } })}
      >
        Accounts stay; those without a password can no longer log in.
      </Confirm>
    );
  const test = () =>
    trial.run(async () => {
      setTested(undefined);
      const form = box.current?.querySelector("form");
      if (!form?.reportValidity()) return;
      const fields = fieldsOf(form);
      const { issuer, client_id, scopes, ...rest } = bodyOf(fields);
      const secret = "client_secret" in rest ? { client_secret: rest.client_secret } : {};
      const body = { slug: provider?.slug ?? fields.text("slug"), issuer, client_id, scopes, ...secret };
      setTested(await must(client.POST("/v1/auth/oidc/test", { body })));
    });
  const submit = async (fields: Fields) => {
    const body = bodyOf(fields);
    await must(
      provider
        ? client.PUT("/v1/auth/oidc/{slug}", { params: { path: { slug: provider.slug } }, body })
        : client.POST("/v1/auth/oidc", { body: { ...body, slug: fields.text("slug") } }),
    );
    onClose();
  };
  return (
    <Dialog title={provider ? provider.name : "Add a sign-on provider"} onClose={onClose}>
      <div ref={box}>
        <Form action={action} word="Save" onCancel={onClose} submit={submit}>
          <ClientFields provider={provider} />
          <RightsFields provider={provider} />
          <GroupFields provider={provider} />
          <div className="mb-3 flex flex-wrap items-center gap-2">
            <Button label={trial.busy ? "Asking it…" : "Test"} busy={trial.busy} onClick={test} />
            {provider && <Button label="Remove…" kind="danger" onClick={() => setDeleting(true)} />}
          </div>
          <ProblemNote error={trial.error} />
          {tested && <Findings tested={tested} />}
        </Form>
      </div>
    </Dialog>
  );
}

interface PartProps {
  provider: Provider | undefined;
}

/** Where people are sent to sign on, and the client that Skep uses there. */
function ClientFields({ provider }: PartProps) {
  const [slug, setSlug] = useState(provider?.slug ?? "");
  const [name, setName] = useState(provider?.name ?? "");
  const back =
    provider?.redirect_uri ?? (slug && new URL(siteUrl(`/v1/auth/oidc/${slug}/callback`), location.origin).href);
  return (
    <>
      {!provider && (
        <Field label="Short name" hint="Part of the address that the provider sends people back to." name="slug">
          <Input
            required
            autoFocus
            pattern="[a-z0-9][a-z0-9\-]{0,63}"
            spellCheck={false}
            onChange={(event) => setSlug(event.target.value)}
          />
        </Field>
      )}
      {back && (
        <p className="mb-3 text-sm text-dim">
          Register this address at the provider: <code className="font-mono break-all">{back}</code>{" "}
          <CopyButton text={back} label="Copy the address" />
        </p>
      )}
      <InputField label="Name" name="name" required value={name} onChange={(event) => setName(event.target.value)} />
      <LookFields name={name} look={provider?.button ?? {}} />
      <Field label="Issuer" name="issuer">
        <Input type="url" required defaultValue={provider?.issuer ?? ""} placeholder="https://login.example.org/" />
      </Field>
      <Field label="Client id" name="client_id">
        <Input required defaultValue={provider?.client_id ?? ""} spellCheck={false} />
      </Field>
      <Field
        label="Client secret"
        hint={
          provider?.client_secret_set
            ? "Leave empty to keep it; changing the issuer drops it."
            : "Sealed here. Left empty for a public client."
        }
        name="client_secret"
      >
        <Input type="password" autoComplete="off" />
      </Field>
      <InputField label="Scopes" name="scopes" defaultValue={provider?.scopes.join(" ") ?? SCOPES} spellCheck={false} />
    </>
  );
}

/** Who may sign on, and with which role. */
function RightsFields({ provider }: PartProps) {
  return (
    <>
      <Field
        label="Domains that may sign on"
        hint="Of e-mail addresses; * is any. Empty: known addresses of any domain."
        name="allowed_domains"
      >
        <Input defaultValue={provider?.allowed_domains.join(", ") ?? ""} placeholder="example.org" />
      </Field>
      <div className="grid gap-x-3 sm:grid-cols-2">
        <Field label="Claim with the role" hint="Such as groups." name="role_claim">
          <Input defaultValue={provider?.role_claim ?? ""} spellCheck={false} />
        </Field>
        <Field label="Its values for administrators" hint="With commas between them." name="admin_values">
          <Input defaultValue={provider?.admin_values.join(", ") ?? ""} spellCheck={false} />
        </Field>
      </div>
      <Check
        name="auto_create"
        label="Make accounts at the first sign-on"
        hint="Otherwise an administrator adds the user first."
        defaultChecked={provider?.auto_create ?? false}
      />
      <Check name="enabled" label="Switched on" defaultChecked={provider?.enabled ?? true} />
    </>
  );
}

const TONES = { ok: "bg-ok-soft", warn: "bg-wait-soft", fail: "bg-bad-soft" };
const SAID = { ok: "Works", warn: "Look at this", fail: "Does not work" };

function Findings({ tested }: { tested: Tested }) {
  return (
    <ul role="status" aria-label="What the test found" className="mb-3 space-y-1">
      {tested.findings.map(({ check, verdict, detail, remedy }) => (
        <li key={check} className={`rounded-md px-3 py-1.5 ${TONES[verdict]}`}>
          <b className="font-medium">{SAID[verdict]}:</b> {detail}
          {remedy && <span className="block text-sm">{remedy}</span>}
        </li>
      ))}
    </ul>
  );
}
