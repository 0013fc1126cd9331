/** Sign-on providers (OpenID Connect): the company's log-in as a button. */
import { Plus } from "lucide-react";
import { api, type Schemas } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { Section } from "../../ui/page.tsx";
import { nameColumn, Table } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { SignOnForm } from "./sign-on-form.tsx";

type Provider = Schemas["Oidc"];

export function SignOnProviders() {
  const [open, setOpen] = useParam("provider");
  const query = api.useQuery("get", "/v1/auth/oidc");
  return (
    <Section
      title="Providers"
      actions={<Button label="Add a provider" icon={Plus} iconSize={15} onClick={() => setOpen("+new")} />}
    >
      <Await query={query}>
        {({ items }) => {
          const providers = items as unknown as Provider[];
          const shown = providers.find(({ slug }) => slug === open);
          return (
            <>
              {providers.length === 0 ? (
                <Empty
                  action={<Button onClick={() => setOpen("+new")}>Add the first</Button>}
                  cli="skep sso add SLUG --name TEXT --issuer URL --client-id ID --secret"
                >
                  Users log in with a password. A provider lets them use the account of their company.
                </Empty>
              ) : (
                <Table
                  label="Sign-on providers"
                  rows={providers}
                  columns={[
                    nameColumn<Provider>("Provider", "", ({ name, issuer }) => [name, issuer]),
                    {
                      title: "State",
                      cell: ({ enabled }) => (enabled ? <Badge tone="ok">On</Badge> : <Badge>Off</Badge>),
                    },
                  ]}
                  keyOf={({ slug }) => slug}
                  hrefOf={({ slug }) => `?tab=sign-on&provider=${slug}`}
                />
              )}
              {(shown || open === "+new") && <SignOnForm key={open} provider={shown} onClose={() => setOpen("")} />}
            </>
          );
        }}
      </Await>
    </Section>
  );
}
