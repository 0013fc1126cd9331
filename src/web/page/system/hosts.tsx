/** The container engines that agents work on, if there are several, and which of them receive new work. */
import { useState } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { List } from "../../kit/list.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";

type Host = Schemas["Host"];

const COLUMNS: Column<Host>[] = [
  nameColumn("Host", "w-2/5 min-w-40", ({ name, address }) => [name, address]),
  {
    title: "State",
    cell: ({ state, error }) => (
      <>
        <Status status={state} />
        {error && <span className="block text-sm text-dim max-md:w-40 max-md:whitespace-normal">{error}</span>}
      </>
    ),
  },
  { title: "Labels", wide: true, cell: ({ labels }) => labels.join(", ") || "–" },
  { title: "Sandboxes", align: "right", cell: ({ used, slots }) => `${used} of ${slots}` },
  { title: "Actions", quiet: true, align: "right", cell: (host) => <Actions host={host} /> },
];

const EVERY_MS = 5_000;

export function Hosts() {
  const query = api.useQuery("get", "/v1/hosts", undefined, { refetchInterval: EVERY_MS });
  return (
    <Section title="Hosts">
      <List
        label="Hosts"
        query={query}
        columns={COLUMNS}
        keyOf={({ name }) => name}
        empty={{
          text: "Agents work on one container engine, or none. Several are named by DOCKER_HOSTS in the server's configuration.",
          action: <ButtonLink href="/system">See where agents work</ButtonLink>,
          cli: "skep hosts",
        }}
      />
    </Section>
  );
}

function Actions({ host: { name, state } }: { host: Host }) {
  const [asking, setAsking] = useState(false);
  const change = useChange("/v1/hosts");
  const params = { path: { name } };
  const isDrained = state === "draining" || state === "drained";
  return (
    <>
      <ProblemNote error={change.error} />
      {isDrained ? (
        <Button
          label="Enable"
          kind="quiet"
          busy={change.busy}
          onClick={() =>
            change.run(() => client.POST("/v1/hosts/{name}/enable", { params }), `${name} gets work again.`)
          }
        />
      ) : (
        <Button label="Drain" kind="quiet" onClick={() => setAsking(true)} />
      )}
      {asking && (
        <Confirm
          title={`Drain ${name}?`}
          word="Drain the host"
          onClose={() => setAsking(false)}
          changes={["/v1/hosts"]}
          act={() => client.POST("/v1/hosts/{name}/drain", { params })}
        >
          It gets no new work until you enable it. Work that is there now ends there.
        </Confirm>
      )}
    </>
  );
}
