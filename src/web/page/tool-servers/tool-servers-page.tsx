/** Tool servers: programs and services that give agents more tools, over the Model Context Protocol. */

import { FileUp, Plug } from "lucide-react";
import { useLocation } from "wouter";
import { usePages } from "../../api/queries.ts";
import { ListPage } from "../../kit/list-page.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Status } from "../../ui/status.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { ImportServers } from "./import-servers.tsx";
import { type Server, ServerForm } from "./server-form.tsx";

export const serverStatus = (status: Server["status"]): string =>
  ({ configuring: "working", error: "failed", running: "ok", stopped: "ended" })[status];
export const listWaiting = ({ tools }: Server) => tools.filter(({ state }) => state === "new" || state === "changed");

const COLUMNS: Column<Server>[] = [
  nameColumn("Server", "w-1/2 min-w-40", ({ id, name, error, description }) => [name || id, error ?? description]),
  { title: "State", cell: ({ status }) => <Status status={serverStatus(status)} /> },
  {
    title: "Tools",
    cell: (server) => (
      <span className="inline-flex gap-2">
        {server.tools.length}
        {listWaiting(server).length > 0 && <Badge tone="wait">{listWaiting(server).length} to approve</Badge>}
      </span>
    ),
  },
  { title: "For", wide: true, cell: ({ agents }) => (agents.includes("*") ? "every agent" : agents.join(", ")) },
];

export default function ToolServersPage() {
  const [fresh, setFresh] = useParam("new");
  const [, navigate] = useLocation();
  const query = usePages("/v1/mcp", { query: { limit: 100 } });
  const add = (kind: "primary" | "plain") => (
    <Button label="Add a server" kind={kind} icon={Plug} iconSize={15} onClick={() => setFresh("1")} />
  );
  return (
    <ListPage
      title="Tool servers"
      about="Programs and services that give agents more tools, over the Model Context Protocol."
      cli="skep mcp list"
      actions={
        <>
          <Button label="Import a file" icon={FileUp} iconSize={15} onClick={() => setFresh("import")} />
          {add("primary")}
        </>
      }
      query={query}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/tool-servers/${id}`}
      lines={4}
      empty={{
        text: "Agents have no tools beyond those of Skep yet.",
        action: add("plain"),
        cli: "skep mcp import FILE",
      }}
    >
      {fresh === "import" && <ImportServers onClose={() => setFresh("")} />}
      {fresh === "1" && (
        <ServerForm
          server={undefined}
          onClose={() => setFresh("")}
          onSaved={({ id }) => navigate(`/tool-servers/${id}`)}
        />
      )}
    </ListPage>
  );
}
