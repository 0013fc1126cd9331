/** The list of agents. */

import { Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { type RowOf, usePages } from "../../api/queries.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { ListPage } from "../../kit/list-page.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { emojiBefore } from "../../ui/emoji.ts";
import { Badge } from "../../ui/facts.tsx";
import { Field, Input, InputField, TextAreaField } from "../../ui/field.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { placeOfSession } from "../activity/place-of-session.ts";

type Session = RowOf<"/v1/lifecycle/sessions">;

/** What the agent works on now. The state in its row links there. */
function Now({ sessions }: { sessions: readonly Session[] }) {
  const [first] = sessions;
  if (!first) return <span className="text-faint">–</span>;
  const words = first.title ?? first.kind;
  const href = placeOfSession(first);
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      {href ? (
        <Link href={href} className="relative z-10 min-h-6 min-w-0 truncate leading-6 underline">
          {words}
        </Link>
      ) : (
        <span className="min-w-0 truncate">{words}</span>
      )}
      {sessions.length > 1 && <span className="shrink-0 text-sm text-faint">and {sessions.length - 1} more</span>}
    </span>
  );
}

const columnsOf = (workOf: (agent: string) => readonly Session[]): Column<Schemas["AgentItem"]>[] => [
  nameColumn("Agent", "w-[38%] min-w-40", ({ name, emoji, role, description }) => [
    `${emojiBefore(emoji)}${name}`,
    description || role,
  ]),
  {
    title: "State",
    cell: ({ status, enabled, problems }) =>
      problems.length > 0 ? (
        <Badge tone="bad">Broken file</Badge>
      ) : enabled ? (
        <Status status={status} />
      ) : (
        <Badge>Switched off</Badge>
      ),
  },
  { title: "Now", wide: true, className: "w-[30%] max-w-0", cell: ({ id }) => <Now sessions={workOf(id)} /> },
  {
    title: "Model",
    wide: true,
    cell: ({ model }) => <span className="text-sm text-dim">{model ?? "the default"}</span>,
  },
  { title: "Runs", wide: true, align: "right", cell: ({ counts }) => counts.runs },
];

/**
 * @returns a function that returns an agent's running sessions. It stays the same function while the data does not
 * change.
 */
function useWork(): (agent: string) => readonly Session[] {
  const { data } = api.useQuery("get", "/v1/lifecycle/sessions", { params: { query: { limit: 200 } } });
  return useMemo(() => {
    const working = data?.items.filter(({ status }) => status === "running") ?? [];
    const byAgent = Map.groupBy(working, ({ agent_id }) => agent_id);
    return (agent) => byAgent.get(agent) ?? [];
  }, [data]);
}

export default function AgentsPage() {
  const admin = useAdmin();
  const [adding, setAdding] = useState(false);
  const workOf = useWork();
  const columns = useMemo(() => columnsOf(workOf), [workOf]);
  const query = usePages("/v1/agents", { query: { limit: 100 } }, { further: 200 });
  return (
    <ListPage
      title="Agents"
      about="Each is a file: instructions, tools, a model, limits."
      cli="skep agents"
      actions={
        admin && <Button label="New agent" kind="primary" icon={Plus} iconSize={15} onClick={() => setAdding(true)} />
      }
      query={query}
      columns={columns}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/agents/${id}`}
      lines={6}
      empty={{
        text: "There is no agent. Pipelines name the agents that do their steps.",
        action: admin && <Button onClick={() => setAdding(true)}>Add the first</Button>,
        cli: "skep agents add ID --prompt FILE",
      }}
    >
      {adding && <AddAgent onClose={() => setAdding(false)} />}
    </ListPage>
  );
}

function AddAgent({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation();
  return (
    <FormDialog
      title="New agent"
      word="Create"
      changes={["/v1/agents"]}
      submit={async ({ text, pickFilled }) => {
        const body = {
          id: text("id"),
          prompt: text("prompt"),
          ...pickFilled("name", "description"),
        };
        const agent = await must(client.POST("/v1/agents", { body }));
        return () => navigate(`/agents/${agent.id}`);
      }}
      onClose={onClose}
    >
      <Field label="Id" hint="Small letters, digits and dashes; pipelines name the agent by it." name="id">
        <Input required autoFocus pattern="[a-z0-9][a-z0-9\-]{0,63}" spellCheck={false} />
      </Field>
      <InputField label="Name" name="name" />
      <InputField label="What it is for" name="description" />
      <TextAreaField label="Instructions" name="prompt" rows={8} required placeholder="You are …" />
    </FormDialog>
  );
}
