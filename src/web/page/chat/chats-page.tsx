/** The user's chats, and a button that starts another. */

import { MessageSquarePlus } from "lucide-react";
import { useLocation } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { ListPage } from "../../kit/list-page.tsx";
import { AgentName } from "../../session/actor.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { AgentFilter, FilterSelect } from "../../ui/filter.tsx";
import { costText, pluralize } from "../../ui/format.ts";
import { Status } from "../../ui/status.tsx";
import { type Column, TwoLines } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { AskAgent } from "../agents/ask-agent.tsx";
import { CHAT_PATHS } from "./chat.ts";

type Item = Schemas["ChatSessionItem"];

const COLUMNS: Column<Item>[] = [
  {
    title: "Chat",
    className: "w-[55%] min-w-44",
    cell: (chat) => <TwoLines first={chat.title ?? "Untitled"} second={<AgentName id={chat.agent_id} />} />,
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
  { title: "Cost", wide: true, align: "right", cell: costText },
  { title: "Last", align: "right", cell: ({ last_activity_at }) => <Ago at={last_activity_at} /> },
];

const STATES = [
  { value: "", label: "Open" },
  { value: "ended", label: "Ended" },
  { value: "all", label: "All" },
];

export default function ChatsPage() {
  const [status, setStatus] = useParam<"ended" | "all">("status");
  const [agent, setAgent] = useParam("agent");
  const [fresh, setFresh] = useParam("new");
  const query = usePages("/v1/chat/sessions", {
    query: {
      limit: 50,
      ...(status ? { status } : {}),
      ...(agent ? { agent_id: agent } : {}),
    },
  });
  const begin = (kind: "primary" | "plain") => (
    <Button label="New chat" kind={kind} icon={MessageSquarePlus} onClick={() => setFresh(agent || "1")} />
  );
  return (
    <ListPage
      title="Chat"
      label="Chats"
      cli="skep chat"
      about="Chats are yours alone: others who share an agent do not read them."
      actions={begin("primary")}
      filterBar={
        <>
          <FilterSelect label="State" value={status} onChange={setStatus} options={STATES} />
          <AgentFilter value={agent} onChange={setAgent} />
        </>
      }
      query={query}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/chat/${id}`}
      lines={6}
      filters={agent || status === "ended" ? ["status", "agent"] : []}
      noMatch={agent ? "No chat matches." : "No chat of yours has ended."}
      empty={{ text: "You have not talked with an agent yet.", action: begin("plain"), cli: "skep chat AGENT" }}
    >
      {!query.hasNextPage && query.rows.length > 20 && (
        <p className="mt-2 text-sm text-faint">{pluralize(query.rows.length, "chat")}</p>
      )}
      {fresh && <NewChat agent={fresh} onClose={() => setFresh("")} />}
    </ListPage>
  );
}

function NewChat({ agent, onClose }: { agent: string; onClose(): void }) {
  const [, navigate] = useLocation();
  return (
    <AskAgent
      title="New chat"
      changes={CHAT_PATHS}
      agent={agent === "1" ? "" : agent}
      words={{ name: "message", label: "First message", placeholder: "Optional: you can also write it later." }}
      onClose={onClose}
      submit={async (body, message) => {
        const chat = await must(client.POST("/v1/chat/sessions", { body }));
        const path = { params: { path: { id: chat.id } } };
        if (message) await must(client.POST("/v1/chat/sessions/{id}/message", { ...path, body: { message } }));
        return () => navigate(`/chat/${chat.id}`);
      }}
    />
  );
}
