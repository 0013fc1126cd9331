/** Sign-on providers (OpenID Connect): the company's log-in as a button. */
import { Plus } from "lucide-react";
import { useState } from "react";
import { api, client, fieldError, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Check, Field, Input } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { CopyButton, Section } from "../../ui/page.tsx";
import { Table, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";

type Provider = Schemas["Oidc"];

export function SignOnProviders() {
  const [open, setOpen] = useParam("provider");
  const query = api.useQuery("get", "/v1/auth/oidc");
  return (
    <Section
      title="Providers"
      actions={
        <Button icon={<Plus aria-hidden size={15} />} onClick={() => setOpen("+new")}>
          Add a provider
        </Button>
      }
    >
      <Await query={query}>
        {({ items }) => {
          const providers = items as unknown as Provider[];
          const shown = providers.find(({ slug }) => slug === open);
          return (
            <>
              {providers.length === 0 ? (
                <Empty>None: users log in with a password.</Empty>
              ) : (
                <Table
                  label="Sign-on providers"
                  rows={providers}
                  columns={[
                    {
                      title: "Provider",
                      cell: ({ name, issuer }) => <TwoLines first={name} second={issuer} />,
                    },
                  ]}
                  keyOf={({ slug }) => slug}
                  hrefOf={({ slug }) => `?tab=sign-on&provider=${slug}`}
                />
              )}
              {(shown || open === "+new") && <EditProvider key={open} provider={shown} onClose={() => setOpen("")} />}
            </>
          );
        }}
      </Await>
    </Section>
  );
}

const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

function EditProvider({ provider, onClose }: { provider: Provider | undefined; onClose(): void }) {
  const action = useAction();
  const [deleting, setDeleting] = useState(false);
  if (deleting && provider)
    return (
      <Confirm
        title={`Remove ${provider.name}?`}
        word="Remove the provider"
        onClose={onClose}
        act={async () => {
          await must(client.DELETE("/v1/auth/oidc/{slug}", { params: { path: { slug: provider.slug } } }));
          await refresh("/v1/auth/oidc");
        }}
      >
        Accounts stay; those without a password can no longer log in.
      </Confirm>
    );
  return (
    <Dialog title={provider ? provider.name : "Add a sign-on provider"} onClose={onClose}>
      <Form
        action={action}
        word="Save"
        onCancel={onClose}
        submit={async ({ text, raw, checked }) => {
          const common = {
            name: text("name"),
            issuer: text("issuer"),
            client_id: text("client_id"),
            auto_create: checked("auto_create"),
            allowed_domains: words(text("allowed_domains")),
            ...(raw("client_secret") ? { client_secret: raw("client_secret") } : {}),
          };
          await must(
            provider
              ? client.PUT("/v1/auth/oidc/{slug}", { params: { path: { slug: provider.slug } }, body: common })
              : client.POST("/v1/auth/oidc", {
                  body: { ...common, slug: text("slug"), client_secret: raw("client_secret") },
                }),
          );
          await refresh("/v1/auth/oidc");
          onClose();
        }}
      >
        {!provider && (
          <Field
            label="Short name"
            hint="Part of the address that the provider sends people back to."
            error={fieldError(action.error, "slug")}
          >
            <Input name="slug" required autoFocus pattern="[a-z0-9][a-z0-9-]{0,63}" spellCheck={false} />
          </Field>
        )}
        <Field label="Name on the button" error={fieldError(action.error, "name")}>
          <Input name="name" required defaultValue={provider?.name ?? ""} />
        </Field>
        <Field label="Issuer" error={fieldError(action.error, "issuer")}>
          <Input
            name="issuer"
            type="url"
            required
            defaultValue={provider?.issuer ?? ""}
            placeholder="https://login.example.org/"
          />
        </Field>
        <Field label="Client id" error={fieldError(action.error, "client_id")}>
          <Input name="client_id" required defaultValue={provider?.client_id ?? ""} spellCheck={false} />
        </Field>
        <Field
          label="Client secret"
          hint={provider ? "Left empty, it stays; another issuer drops it." : "Sealed here."}
          error={fieldError(action.error, "client_secret")}
        >
          <Input name="client_secret" type="password" autoComplete="off" required={!provider} />
        </Field>
        <Field
          label="Domains that may"
          hint="Of e-mail addresses. Empty: all."
          error={fieldError(action.error, "allowed_domains")}
        >
          <Input
            name="allowed_domains"
            defaultValue={provider?.allowed_domains.join(", ") ?? ""}
            placeholder="example.org"
          />
        </Field>
        <Check
          name="auto_create"
          label="Make accounts by themselves"
          hint="Else an administrator adds the user first."
          defaultChecked={provider?.auto_create ?? false}
        />
        {provider?.redirect_uri && (
          <p className="mb-3 text-sm text-dim">
            Tell the provider to send people back to <code className="font-mono">{provider.redirect_uri}</code>{" "}
            <CopyButton text={provider.redirect_uri} />
          </p>
        )}
        {provider && (
          <Button kind="danger" onClick={() => setDeleting(true)}>
            Remove…
          </Button>
        )}
      </Form>
    </Dialog>
  );
}
