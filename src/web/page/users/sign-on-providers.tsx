/** Sign-on providers (OpenID Connect): buttons for the company's own log-in. */
import { Plus } from "lucide-react";
import { api, type Schemas } from "../../api/client.ts";
import { List } from "../../kit/list.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Section } from "../../ui/page.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { SignOnForm } from "./sign-on-form.tsx";

type Provider = Schemas["Oidc"];

const COLUMNS: Column<Provider>[] = [
  nameColumn("Provider", "", ({ name, issuer }) => [name, issuer]),
  { title: "State", cell: ({ enabled }) => (enabled ? <Badge tone="ok">On</Badge> : <Badge>Off</Badge>) },
];

export function SignOnProviders() {
  const [open, setOpen] = useParam("provider");
  const query = api.useQuery("get", "/v1/auth/oidc");
  const items = (query.data?.items ?? []) as unknown as Provider[];
  const shown = items.find(({ slug }) => slug === open);
  return (
    <Section
      title="Providers"
      actions={<Button label="Add a provider" icon={Plus} iconSize={15} onClick={() => setOpen("+new")} />}
    >
      <List
        label="Sign-on providers"
        query={{ ...query, data: query.data && { items } }}
        columns={COLUMNS}
        keyOf={({ slug }) => slug}
        hrefOf={({ slug }) => `?tab=sign-on&provider=${slug}`}
        empty={{
          text: "Users log in with a password. A provider lets them use the account of their company.",
          action: <Button onClick={() => setOpen("+new")}>Add the first</Button>,
          cli: "skep sso add SLUG --name TEXT --issuer URL --client-id ID --secret",
        }}
      />
      {(shown || open === "+new") && <SignOnForm key={open} provider={shown} onClose={() => setOpen("")} />}
    </Section>
  );
}
