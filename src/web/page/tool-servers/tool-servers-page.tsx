/** Tool servers: programs and services that give agents more tools, over the Model Context Protocol. */
import { Plug } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { client, fieldError, must } from "../../api/client.ts";
import { type RowOf, refresh, usePages } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Field, Input, Select, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, Table, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";

export type Server = RowOf<"/v1/mcp">;

export const serverStatus = (status: Server["status"]): string =>
  ({ configuring: "working", error: "failed", running: "ok", stopped: "ended" })[status];
export const waiting = ({ tools }: Server) => tools.filter(({ state }) => state === "new" || state === "changed");

const COLUMNS: Column<Server>[] = [
  {
    title: "Server",
    className: "w-1/2 min-w-40",
    cell: ({ id, name, error, description }) => <TwoLines first={name || id} second={error ?? description} />,
  },
  { title: "State", cell: ({ status }) => <Status status={serverStatus(status)} /> },
  {
    title: "Tools",
    cell: (server) => (
      <span className="inline-flex gap-2">
        {server.tools.length}
        {waiting(server).length > 0 && <Badge tone="wait">{waiting(server).length} to approve</Badge>}
      </span>
    ),
  },
  { title: "For", wide: true, cell: ({ agents }) => (agents.includes("*") ? "every agent" : agents.join(", ")) },
];

export default function ToolServersPage() {
  const [fresh, setFresh] = useParam("new");
  const query = usePages("/v1/mcp", { query: { limit: 100 } });
  const add = (kind: "primary" | "plain") => (
    <Button kind={kind} icon={<Plug aria-hidden size={15} />} onClick={() => setFresh("1")}>
      Add a server
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Tool servers"
        about="Programs and services that give agents more tools, over the Model Context Protocol."
        cli="skep mcp list"
        actions={add("primary")}
      />
      <Await query={query} rows={4}>
        {() =>
          query.rows.length === 0 ? (
            <Empty action={add("plain")} cli="skep mcp import FILE">
              Agents have no tools beyond those of Skep yet.
            </Empty>
          ) : (
            <Table
              label="Tool servers"
              rows={query.rows}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `/tool-servers/${id}`}
              more={query}
            />
          )
        }
      </Await>
      {fresh && <AddServer onClose={() => setFresh("")} />}
    </>
  );
}

/** `NAME=value` lines. */
const valuesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")).trim(), line.slice(line.indexOf("=") + 1).trim()]),
  );
const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

function AddServer({ onClose }: { onClose(): void }) {
  const action = useAction();
  const [transport, setTransport] = useState<Server["transport"]>("http");
  const [, navigate] = useLocation();
  const local = transport === "stdio";
  return (
    <Dialog title="Add a tool server" onClose={onClose}>
      <Form
        action={action}
        word="Add"
        onCancel={onClose}
        submit={async ({ text, raw }) => {
          const values = valuesOf(raw("values"));
          const reach = local
            ? {
                ...{ command: text("command") || null, args: raw("args").split("\n").filter(Boolean), env: values },
                image: text("image") || null,
              }
            : { url: text("url"), headers: values };
          const body = { id: text("id"), transport, agents: wordsOf(text("agents")), ...reach };
          const { id } = await must(client.POST("/v1/mcp", { body }));
          await refresh("/v1/mcp");
          navigate(`/tool-servers/${id}`);
        }}
      >
        <Field label="Id" hint="Its tools are called id__tool." error={fieldError(action.error, "id")}>
          <Input name="id" required spellCheck={false} placeholder="tickets" />
        </Field>
        <Field label="Kind">
          <Select value={transport} onChange={(event) => setTransport(event.target.value as Server["transport"])}>
            <option value="http">A service (HTTP)</option>
            <option value="sse">A service (HTTP with SSE, older)</option>
            <option value="stdio">A program (stdio)</option>
          </Select>
        </Field>
        {local ? (
          <>
            <Field
              label="Container image"
              hint="Left empty, it runs on the host, where the server allows that."
              error={fieldError(action.error, "image")}
            >
              <Input name="image" spellCheck={false} />
            </Field>
            <Field label="Program" error={fieldError(action.error, "command")}>
              <Input name="command" spellCheck={false} />
            </Field>
            <Field label="Arguments" hint="One a line." error={fieldError(action.error, "args")}>
              <TextArea name="args" rows={2} spellCheck={false} className="font-mono" />
            </Field>
          </>
        ) : (
          <Field label="Address" error={fieldError(action.error, "url")}>
            <Input name="url" required spellCheck={false} placeholder="https://tickets.example.org/mcp" />
          </Field>
        )}
        <Field
          label={local ? "Environment" : "Headers"}
          hint="NAME=value, one a line. ${secret:NAME} stands for a stored secret."
          error={fieldError(action.error, local ? "env" : "headers")}
        >
          <TextArea name="values" rows={2} spellCheck={false} className="font-mono" />
        </Field>
        <Field label="Agents that may use it" hint="* is every agent." error={fieldError(action.error, "agents")}>
          <Input name="agents" defaultValue="*" spellCheck={false} />
        </Field>
      </Form>
    </Dialog>
  );
}
