/** Your talks, and beginning another. */
import { MessageSquarePlus } from "lucide-react";
import { useLocation } from "wouter";
import { api, client, fieldError, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Field, Select, TextArea } from "../../ui/field.tsx";
import { FilterBar, FilterSelect } from "../../ui/filter.tsx";
import { Form } from "../../ui/form.tsx";
import { plural, usd } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { refreshTalk } from "./talk.ts";

type Item = Schemas["ChatSessionItem"];
const many = { params: { query: { limit: 200 } } };

const COLUMNS: Column<Item>[] = [
  {
    title: "Talk",
    className: "w-[55%] min-w-44",
    cell: (talk) => <TwoLines first={talk.title ?? "Untitled"} second={talk.agent_id} />,
  },
  {
    title: "State",
    cell: ({ status, queued }) => (
      <span className="inline-flex items-center gap-2">
        <Status status={status === "busy" ? "working" : status} />
        {queued > 0 && <Badge tone="wait">{queued} waiting</Badge>}
      </span>
    ),
  },
  { title: "Messages", wide: true, align: "right", cell: ({ message_count }) => message_count },
  { title: "Cost", wide: true, align: "right", cell: ({ cost_usd }) => usd(cost_usd) },
  { title: "Last", align: "right", cell: ({ last_activity_at }) => <Ago at={last_activity_at} /> },
];

const STATES = [
  { value: "", label: "Open" },
  { value: "ended", label: "Ended" },
  { value: "all", label: "All" },
];

export default function ChatsPage() {
  const [status, setStatus] = useParam("status");
  const [agent, setAgent] = useParam("agent");
  const [fresh, setFresh] = useParam("new");
  const agents = api.useQuery("get", "/v1/agents", many);
  const query = usePages("/v1/chat/sessions", {
    query: {
      limit: 50,
      ...(status ? { status: status as "ended" | "all" } : {}),
      ...(agent ? { agent_id: agent } : {}),
    },
  });
  const options = (agents.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const begin = (kind: "primary" | "plain") => (
    <Button kind={kind} icon={<MessageSquarePlus aria-hidden size={14} />} onClick={() => setFresh(agent || "1")}>
      New talk
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Chat"
        about="Talks are yours alone: others who share an agent do not read them."
        actions={begin("primary")}
      />
      <FilterBar>
        <FilterSelect label="State" value={status} onChange={setStatus} options={STATES} />
        <FilterSelect
          label="Agent"
          value={agent}
          onChange={setAgent}
          options={[{ value: "", label: "Any agent" }, ...options]}
        />
      </FilterBar>
      <Await query={query} rows={6}>
        {() =>
          query.rows.length === 0 ? (
            <Empty action={begin("plain")}>
              {status || agent ? "No talk is like that." : "You have not talked with an agent yet."}
            </Empty>
          ) : (
            <>
              <Table
                label="Talks"
                rows={query.rows}
                columns={COLUMNS}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => `/chat/${id}`}
                more={query}
              />
              {!query.hasNextPage && query.rows.length > 20 && (
                <p className="mt-2 text-sm text-faint">{plural(query.rows.length, "talk")}</p>
              )}
            </>
          )
        }
      </Await>
      {fresh && <NewTalk agent={fresh} onClose={() => setFresh("")} />}
    </>
  );
}

function NewTalk({ agent, onClose }: { agent: string; onClose(): void }) {
  const action = useAction();
  const [, navigate] = useLocation();
  const agents = api.useQuery("get", "/v1/agents", many);
  const projects = api.useQuery("get", "/v1/projects", many);
  const models = api.useQuery("get", "/v1/models", many);
  return (
    <Dialog title="New talk" onClose={onClose}>
      <Await query={agents} rows={3}>
        {({ items }) => (
          <Form
            action={action}
            word="Begin"
            onCancel={onClose}
            submit={async ({ text, raw }) => {
              const body = {
                agent_id: text("agent_id"),
                ...(text("project_id") ? { project_id: text("project_id") } : {}),
                ...(text("model") ? { model: text("model") } : {}),
              };
              const talk = await must(client.POST("/v1/chat/sessions", { body }));
              const path = { params: { path: { id: talk.id } } };
              if (text("message"))
                await must(
                  client.POST("/v1/chat/sessions/{id}/message", { ...path, body: { message: raw("message") } }),
                );
              await refreshTalk();
              navigate(`/chat/${talk.id}`);
            }}
          >
            <Field label="Agent" error={fieldError(action.error, "agent_id")}>
              <Select name="agent_id" defaultValue={agent}>
                {items
                  .filter(({ enabled }) => enabled)
                  .map(({ id, name, role }) => (
                    <option key={id} value={id}>
                      {role ? `${name}, ${role}` : name}
                    </option>
                  ))}
              </Select>
            </Field>
            {(projects.data?.items.length ?? 0) > 0 && (
              <Field
                label="Project"
                hint="The agent then has its code graph."
                error={fieldError(action.error, "project_id")}
              >
                <Select name="project_id" defaultValue="">
                  <option value="">None</option>
                  {projects.data?.items.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </Select>
              </Field>
            )}
            <Field label="Model" error={fieldError(action.error, "model")}>
              <Select name="model" defaultValue="">
                <option value="">The agent's own</option>
                {models.data?.items.map(({ id }) => (
                  <option key={id}>{id}</option>
                ))}
              </Select>
            </Field>
            <Field label="First message">
              <TextArea name="message" rows={3} placeholder="It can also be said later." />
            </Field>
          </Form>
        )}
      </Await>
    </Dialog>
  );
}
