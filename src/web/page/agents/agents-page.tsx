/** The team. */
import { Plus } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { client, fieldError, must, type Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { useAdmin } from "../../shell/session.tsx";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Field, Input, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";

const COLUMNS: Column<Schemas["AgentItem"]>[] = [
  {
    title: "Agent",
    className: "w-1/2 min-w-40",
    cell: ({ name, emoji, role, description }) => (
      <TwoLines first={`${emoji ? `${emoji} ` : ""}${name}`} second={description || role} />
    ),
  },
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
  {
    title: "Model",
    wide: true,
    cell: ({ model }) => <span className="text-sm text-dim">{model ?? "the default"}</span>,
  },
  { title: "Skills", wide: true, align: "right", cell: ({ skills }) => skills.length },
  { title: "Tools", wide: true, align: "right", cell: ({ tools }) => tools.length },
  { title: "Runs", wide: true, align: "right", cell: ({ counts }) => counts.runs },
];

export default function AgentsPage() {
  const admin = useAdmin();
  const [adding, setAdding] = useState(false);
  const query = usePages("/v1/agents", { query: { limit: 100 } }, { further: 200 });
  return (
    <>
      <PageHeader
        title="Agents"
        about="Each is a file: instructions, tools, a model, limits."
        cli="skep agents"
        actions={
          admin && (
            <Button kind="primary" icon={<Plus aria-hidden size={15} />} onClick={() => setAdding(true)}>
              New agent
            </Button>
          )
        }
      />
      <Await query={query} rows={6}>
        {() =>
          query.rows.length === 0 ? (
            <Empty
              action={admin && <Button onClick={() => setAdding(true)}>Add the first</Button>}
              cli="skep agents add ID --prompt FILE"
            >
              There is no agent. Pipelines name the agents that do their steps.
            </Empty>
          ) : (
            <Table
              label="Agents"
              rows={query.rows}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `/agents/${id}`}
              more={query}
            />
          )
        }
      </Await>
      {adding && <AddAgent onClose={() => setAdding(false)} />}
    </>
  );
}

function AddAgent({ onClose }: { onClose(): void }) {
  const action = useAction();
  const [, navigate] = useLocation();
  return (
    <Dialog title="New agent" onClose={onClose}>
      <Form
        action={action}
        word="Create"
        onCancel={onClose}
        submit={async ({ text }) => {
          const body = {
            id: text("id"),
            prompt: text("prompt"),
            ...(text("name") ? { name: text("name") } : {}),
            ...(text("description") ? { description: text("description") } : {}),
          };
          const agent = await must(client.POST("/v1/agents", { body }));
          await refresh("/v1/agents");
          navigate(`/agents/${agent.id}`);
        }}
      >
        <Field
          label="Id"
          hint="Small letters, digits and dashes; pipelines name the agent by it."
          error={fieldError(action.error, "id")}
        >
          <Input name="id" required autoFocus pattern="[a-z0-9][a-z0-9\-]{0,63}" spellCheck={false} />
        </Field>
        <Field label="Name" error={fieldError(action.error, "name")}>
          <Input name="name" />
        </Field>
        <Field label="What it is for" error={fieldError(action.error, "description")}>
          <Input name="description" />
        </Field>
        <Field label="Instructions" error={fieldError(action.error, "prompt")}>
          <TextArea name="prompt" rows={8} required placeholder="You are …" />
        </Field>
      </Form>
    </Dialog>
  );
}
