/** Cookie files of websites, and which agents may use them for you. */

import { Plus } from "lucide-react";
import { useState } from "react";
import { api, client, must, type Schemas, toMultipart } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { ListPage } from "../../kit/list-page.tsx";
import { AgentNames } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Check, Field, Input, InputField } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { pluralize } from "../../ui/format.ts";
import { Await } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";

type CookieSet = Schemas["BrowserCooky"];
const refreshCookies = () => refresh("/v1/browser/cookies");

const COLUMNS: Column<CookieSet>[] = [
  nameColumn("Set", "w-[45%] min-w-40", ({ name, domains }) => [name, domains.join(", ")]),
  { title: "Cookies", wide: true, align: "right", cell: ({ cookie_count }) => cookie_count },
  {
    title: "Expires",
    cell: ({ expired, expires_at }) =>
      expired ? <Badge tone="bad">expired</Badge> : expires_at ? <Ago at={expires_at} /> : "with its session",
  },
  {
    title: "Agents",
    wide: true,
    cell: ({ granted_agents }) =>
      granted_agents.length > 0 ? <AgentNames ids={granted_agents} /> : <span className="text-faint">none</span>,
  },
];

export default function CookiesPage() {
  const [shown, show] = useParam("set");
  const [adding, setAdding] = useState(false);
  const query = usePages("/v1/browser/cookies", { query: { limit: 100 } });
  const set = query.rows.find(({ id }) => id === shown);
  const add = <Button label="Add a cookie file" kind="primary" icon={Plus} onClick={() => setAdding(true)} />;
  return (
    <ListPage
      title="Cookies"
      cli="skep cookies"
      about="Log-ins of websites for agents that fetch pages for you. They are yours alone, and their values are never shown."
      actions={add}
      query={query}
      label="Cookie sets"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/cookies?set=${id}`}
      empty={{
        text: "Export a site's cookies from your browser as a Netscape cookie file, and add it here.",
        action: add,
        cli: "skep cookies add FILE",
      }}
    >
      {adding && <AddSet onClose={() => setAdding(false)} />}
      {set && <SetDialog set={set} onClose={() => show("")} />}
    </ListPage>
  );
}

function AddSet({ onClose }: { onClose(): void }) {
  const submit = async ({ all }: Fields) => {
    await must(client.POST("/v1/browser/cookies", toMultipart(all())));
    await refreshCookies();
  };
  return (
    <FormDialog title="Add a cookie file" word="Add" submit={submit} onClose={onClose}>
      <InputField label="Name" name="name" required maxLength={100} />
      <Field label="File" name="file" hint="Netscape format, at most 1 MiB.">
        <Input type="file" required className="py-1.5" />
      </Field>
    </FormDialog>
  );
}

function SetDialog({ set, onClose }: { set: CookieSet; onClose(): void }) {
  const action = useChange("/v1/browser/cookies");
  const [deleting, setDeleting] = useState(false);
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const toggle = (agent_id: string, granted: boolean) =>
    action.run(async () => {
      const params = { path: { agent_id, id: set.id } };
      if (granted) await must(client.DELETE("/v1/browser/cookies/agents/{agent_id}/{id}", { params }));
      else await must(client.POST("/v1/browser/cookies/agents/{agent_id}/{id}/grant", { params }));
    });
  if (deleting)
    return (
      <Confirm
        title={`Delete ${set.name}?`}
        word="Delete the set"
        onClose={onClose}
        changes={["/v1/browser/cookies"]}
        act={() => client.DELETE("/v1/browser/cookies/{id}", { params: { path: { id: set.id } } })}
      >
        Its cookies and grants are removed. This cannot be undone.
      </Confirm>
    );
  return (
    <Dialog title={set.name} onClose={onClose}>
      <p className="mb-3 text-dim">
        {pluralize(set.cookie_count, "cookie")} of {set.domains.join(", ")}.
      </p>
      <ProblemNote error={action.error} />
      <fieldset disabled={action.busy}>
        <legend className="mb-2 text-sm font-semibold">Agents that may use it for you</legend>
        <Await query={agents}>
          {({ items }) =>
            items.map(({ id, name }) => (
              <Check
                key={id}
                label={name}
                checked={set.granted_agents.includes(id)}
                onChange={() => toggle(id, set.granted_agents.includes(id))}
              />
            ))
          }
        </Await>
      </fieldset>
      <div className="mt-3 flex justify-between">
        <Button label="Delete" kind="danger" onClick={() => setDeleting(true)} />
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
