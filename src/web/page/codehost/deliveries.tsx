/** The webhooks that the code host sent, with their results. */

import { client, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { List } from "../../kit/list.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { FilterBar, FilterSelect } from "../../ui/filter.tsx";
import { TextLink } from "../../ui/link.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";

type Delivery = Schemas["CodeHostDelivery"];

const STATES = [
  { value: "", label: "Any state" },
  { value: "done", label: "Done" },
  { value: "ignored", label: "Ignored" },
  { value: "queued", label: "Queued" },
  { value: "failed", label: "Failed" },
];

export function Deliveries() {
  const [state, setState] = useParam<Delivery["state"]>("state");
  const action = useChange("/v1/codehost");
  const query = usePages("/v1/codehost/deliveries", {
    query: { limit: 50, ...(state ? { state } : {}) },
  });
  const retry = (id: string) =>
    action.run(() => client.POST("/v1/codehost/deliveries/{id}/retry", { params: { path: { id } } }));
  const columns: Column<Delivery>[] = [
    nameColumn("Event", "w-1/2 min-w-40", ({ event, repository, detail, error }) => [
      [event.replaceAll("_", " "), repository].filter(Boolean).join(" in "),
      detail ?? error?.message,
    ]),
    { title: "State", cell: (one) => <Status status={one.state} /> },
    {
      title: "Result",
      cell: ({ run_id, state: is, id }) =>
        run_id ? (
          <TextLink href={`/runs/${run_id}`}>the run</TextLink>
        ) : is === "failed" ? (
          <Button label="Try again" busy={action.busy} onClick={() => retry(id)} />
        ) : null,
    },
    { title: "Received", align: "right", cell: ({ received_at }) => <Ago at={received_at} /> },
  ];
  return (
    <>
      <FilterBar>
        <FilterSelect label="State" value={state} onChange={setState} options={STATES} />
      </FilterBar>
      <ProblemNote error={action.error} />
      <List
        label="Deliveries"
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        lines={6}
        filters={["state"]}
        noMatch="No delivery is in that state."
        empty={{
          text: "The code host has sent nothing yet. The connection names the address that its webhook needs.",
          action: <ButtonLink href="/code-host">See the connection</ButtonLink>,
          cli: "skep codehost status",
        }}
      />
    </>
  );
}
