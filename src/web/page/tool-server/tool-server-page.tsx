/** One tool server: its state, its tools and which of them are approved, its log. */

import { Check, Pencil, Power, Trash2 } from "lucide-react";
import { useState } from "react";
import { useParams } from "wouter";
import { api, client, must } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge, FactRow } from "../../ui/facts.tsx";
import { FollowLog } from "../../ui/follow-log.tsx";
import { Await, Empty, Warning } from "../../ui/note.tsx";
import { PageHeader, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status } from "../../ui/status.tsx";
import { Value } from "../../ui/value.tsx";
import { Fold } from "../run/step-detail.tsx";
import { type Server, ServerForm } from "../tool-servers/server-form.tsx";
import { listWaiting, serverStatus } from "../tool-servers/tool-servers-page.tsx";
import { Grants } from "./grants.tsx";
import { LogIn } from "./log-in.tsx";

type Tool = Server["tools"][number];

const STATE: Record<Tool["state"], [word: string, tone: "ok" | "wait" | "bad" | "plain"]> = {
  ready: ["Ready", "ok"],
  new: ["New: approve it first", "wait"],
  changed: ["Changed: approve it again", "wait"],
  unusable: ["Unusable", "bad"],
  gone: ["Gone", "plain"],
};

export default function ToolServerPage() {
  const { id = "" } = useParams<{ id: string }>();
  const query = api.useQuery("get", "/v1/mcp/{id}", { params: { path: { id } } });
  return (
    <Await query={query} page="Tool server" list={["/tool-servers", "Tool servers"]}>
      {(server) => <ServerView server={server} />}
    </Await>
  );
}

function ServerView({ server }: { server: Server }) {
  const [deleting, setDeleting] = useState(false);
  const [editing, setEditing] = useState(false);
  const action = useChange("/v1/mcp");
  const params = { path: { id: server.id } };
  const toggle = () => action.run(() => client.PUT("/v1/mcp/{id}", { params, body: { enabled: !server.enabled } }));
  return (
    <>
      <PageHeader
        title={server.name || server.id}
        crumbs={[["/tool-servers", "Tool servers"]]}
        beside={<Status status={serverStatus(server.status)} />}
        about={server.description}
        cli={`skep mcp logs ${server.id}`}
        actions={
          <>
            <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDeleting(true)} />
            <Button label="Edit" icon={Pencil} onClick={() => setEditing(true)} />
            <Button busy={action.busy} icon={Power} onClick={toggle}>
              {server.enabled ? "Switch off" : "Switch on"}
            </Button>
          </>
        }
      />
      <ProblemNote error={action.error} />
      {server.error && <Warning>{server.error}</Warning>}
      {(server.needs_authorization || server.authorized) && <LogIn server={server} />}
      <FactRow
        facts={[
          ["Kind", server.transport],
          [
            server.url ? "Address" : "Program",
            <code key="at">{server.url ?? server.command ?? "the image's own"}</code>,
          ],
          ["Runs", server.transport === "stdio" ? (server.image ?? "on the host") : "elsewhere"],
          ["Time for one call", `${server.timeout_ms / 1_000} s`],
        ]}
      />
      <Tools server={server} />
      <Grants server={server} />
      <Section title="Log">
        <FollowLog
          path={`/v1/mcp/logs?server_id=${encodeURIComponent(server.id)}&tail=200`}
          label="Log of the server"
        />
      </Section>
      {editing && <ServerForm server={server} onClose={() => setEditing(false)} onSaved={() => setEditing(false)} />}
      {deleting && (
        <Confirm
          title={`Delete ${server.name || server.id}?`}
          word="Delete the server"
          onClose={() => setDeleting(false)}
          changes={["/v1/mcp"]}
          act={() => client.DELETE("/v1/mcp/{id}", { params })}
          leaveTo="/tool-servers"
        >
          Agents lose its tools at once.
        </Confirm>
      )}
    </>
  );
}

function Tools({ server }: { server: Server }) {
  const action = useChange("/v1/mcp");
  const open = listWaiting(server);
  const ask = () =>
    action.run(() => client.PATCH("/v1/mcp/{id}/tools", { params: { path: { id: server.id } }, body: {} }));
  const approve = (tools: Tool[]) =>
    action.run(async () => {
      // Send the hashes of the tools on the page: a tool that has changed meanwhile is not approved.
      const body = { tools: tools.map(({ name, hash }) => ({ name, hash })) };
      await must(client.POST("/v1/mcp/{id}/approve", { params: { path: { id: server.id } }, body }));
    });
  return (
    <Section
      title="Tools"
      actions={
        <span className="flex gap-2">
          {server.status === "running" && <Button label="Ask again" kind="quiet" busy={action.busy} onClick={ask} />}
          {open.length > 1 && (
            <Button label={`Approve all ${open.length}`} busy={action.busy} onClick={() => approve(open)} />
          )}
        </span>
      }
    >
      <ProblemNote error={action.error} />
      {server.tools.length === 0 ? (
        <Empty cli={`skep mcp logs ${server.id}`}>
          {server.status === "running"
            ? "It offers no tools. Its log says what it prints when it starts."
            : "Its tools are known once it runs. Its log says why it does not."}
        </Empty>
      ) : (
        server.tools.map((tool) => (
          <Fold key={tool.name} title={tool.name} open={open.includes(tool)}>
            <div className="flex flex-wrap items-center gap-3">
              <Badge tone={STATE[tool.state][1]}>{STATE[tool.state][0]}</Badge>
              <code className="text-sm text-dim">{tool.agent_tool}</code>
              {open.includes(tool) && (
                <Button busy={action.busy} icon={Check} onClick={() => approve([tool])}>
                  Approve {tool.name}
                </Button>
              )}
            </div>
            {tool.problem && <p className="mt-2 text-bad">{tool.problem}</p>}
            <div className={`mt-2 grid gap-3 ${tool.approved ? "md:grid-cols-2" : ""}`}>
              {tool.approved && (
                <Version title="Approved" description={tool.approved.description} schema={tool.approved.input_schema} />
              )}
              <Version
                title={tool.approved ? "What it says now" : "What it says"}
                description={tool.description}
                schema={tool.input_schema}
              />
            </div>
          </Fold>
        ))
      )}
    </Section>
  );
}

const Version = ({ title, description, schema }: { title: string; description: string; schema: unknown }) => (
  <div className="min-w-0">
    <h3 className="text-xs text-dim">{title}</h3>
    <p className="break-words whitespace-pre-wrap">{description || "no description"}</p>
    <div className="mt-1 text-sm">
      <Value value={schema} />
    </div>
  </div>
);
