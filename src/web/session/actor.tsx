/** Shows who did something, by name. The id is in the tooltip, so that it can be looked up. */
import { useMemo } from "react";
import { Link } from "wouter";
import { api } from "../api/client.ts";
import { useMe } from "./session.tsx";

const ALL = { params: { query: { limit: 200 } } };

const PLAIN: Record<string, string> = {
  rule: "a rule",
  local: "the local administrator",
  system: "the server",
  agent: "an agent",
  person: "a person",
  document: "a document",
  tool: "a tool",
  anonymous: "Somebody",
  engine: "the engine",
  "command-line": "an administrator at the terminal",
};

/**
 * @returns a function for an agent's name, or its id if the agent was deleted. It stays the same function while the
 * names do.
 */
export function useAgentNames(): (id: string) => string {
  const agents = api.useQuery("get", "/v1/agents", ALL, { staleTime: 300_000 });
  return useMemo(() => {
    const names = new Map(agents.data?.items.map(({ id, name }) => [id, name]));
    return (id) => names.get(id) ?? id;
  }, [agents.data]);
}

/** An agent's name. The id is in the tooltip. */
export function AgentName({ id }: { id: string }) {
  const nameOf = useAgentNames();
  return <span title={id}>{nameOf(id)}</span>;
}

/** Several agents' names, as a sentence lists them. */
export function AgentNames({ ids }: { ids: readonly string[] }) {
  const nameOf = useAgentNames();
  return <span title={ids.join(", ")}>{ids.map(nameOf).join(", ")}</span>;
}

/** Names of agents, and of users for people who may list them. */
function useNames(): (id: string) => string | undefined {
  const me = useMe();
  const users = api.useQuery("get", "/v1/admin/users", ALL, { enabled: me.role === "admin", staleTime: 300_000 });
  const agents = api.useQuery("get", "/v1/agents", ALL, { staleTime: 300_000 });
  return (id) =>
    id === me.id
      ? me.display_name
      : (users.data?.items.find((user) => user.id === id)?.display_name ??
        agents.data?.items.find((agent) => agent.id === id)?.name);
}

/** @param id a user, an agent, `agent:…`, `run:…`, `execution:…`, or a word for an actor that is none of these. */
export function Actor({ id }: { id: string }) {
  const nameOf = useNames();
  const [kind, of] = id.split(":");
  if (kind === "run" && of)
    return (
      <Link href={`/runs/${of}`} title={of} className="hover:underline">
        a run
      </Link>
    );
  if (kind === "agent" && of) return <AgentName id={of} />;
  const name = nameOf(id) ?? PLAIN[id] ?? (kind === "execution" ? "an agent at work" : undefined);
  const isUser = id.startsWith("usr_");
  return <span title={id}>{name ?? (isUser ? "another user" : id)}</span>;
}
