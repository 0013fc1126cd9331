/** Addresses that the run's programs tried to reach and were refused, with a button that allows each. */

import { Check, Globe } from "lucide-react";
import { api, client, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { count, formatBytes, pluralize } from "../../ui/format.ts";
import { ProblemNote } from "../../ui/problem-note.tsx";

type Connection = Schemas["EgressConnection"];

interface Reached {
  key: string;
  agent: string;
  host: string;
  port: number;
  verdict: Connection["verdict"];
  reason: string | null;
  times: number;
  bytes: number;
}

const REASONS: Readonly<Record<string, string>> = {
  not_allowed: "it is not in the agent's list",
  address_refused: "its address is private",
  name_mismatch: "the program asked for another host inside the connection",
  not_encrypted: "a host with a secret bound to it is reached over TLS alone",
  full: "the session had used up its connections",
  host_unknown: "its name has no address",
  unreachable: "it did not answer",
  too_much: "it moved too many bytes",
  too_long: "nothing came for too long",
};

/** Looks at the newest connections; renders nothing if none was refused. */
export function NetworkAccess({ runId, projectId }: { runId: string; projectId: string | null }) {
  const { data } = api.useQuery("get", "/v1/runs/{id}/connections", {
    params: { path: { id: runId }, query: { limit: 200 } },
  });
  const reached = groupConnections(data?.items ?? []);
  if (reached.length === 0) return null;
  const refused = reached.filter(({ verdict }) => verdict === "denied");
  const others = reached.filter(({ verdict }) => verdict !== "denied");
  return (
    <section aria-label="Network" className="mb-4 rounded-lg border border-line px-4 py-3">
      {refused.length > 0 && (
        <ul className="flex flex-col gap-2">
          {refused.map((one) => (
            <Refused key={one.key} one={one} projectId={projectId} />
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <details className={refused.length > 0 ? "mt-2" : ""}>
          <summary className="cursor-pointer text-sm text-dim">
            Its programs reached {pluralize(others.length, "host")}
          </summary>
          <ul className="mt-2 flex flex-col gap-1 text-sm">
            {others.map((one) => (
              <li key={one.key}>
                <span className="font-mono">{`${one.host}:${one.port}`}</span>{" "}
                <span className="text-dim">
                  {one.agent}, {pluralize(one.times, "connection")}, {formatBytes(one.bytes)}
                  {one.reason && `, failed: ${REASONS[one.reason] ?? one.reason}`}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Refused({ one, projectId }: { one: Reached; projectId: string | null }) {
  const { agent, host, port, reason, times } = one;
  const admin = useAdmin();
  const action = useChange("/v1/agents", "/v1/projects");
  const allow = () =>
    action.run(
      () => client.POST("/v1/agents/{id}/allowed-hosts", { params: { path: { id: agent } }, body: { host, port } }),
      `${agent} may reach ${host}:${port} from its next session on.`,
    );
  const allowInProject = (id: string) =>
    action.run(
      () => client.POST("/v1/projects/{id}/allowed-hosts", { params: { path: { id } }, body: { host, port } }),
      `The project allows ${host}:${port} to agents that have \`project\` in their list.`,
    );
  return (
    <li>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Globe aria-hidden size={14} className="shrink-0" />
        <span className="min-w-0 break-words">
          {agent} wanted to reach <span className="font-mono">{`${host}:${port}`}</span>
          {times > 1 && ` (${count(times)} times)`}: denied, {REASONS[reason ?? ""] ?? reason}
        </span>
        {admin && reason === "not_allowed" && (
          <Button label={`Allow for ${agent}`} icon={Check} onClick={allow} disabled={action.busy} />
        )}
        {admin && reason === "not_allowed" && projectId !== null && (
          <Button icon={Check} onClick={() => allowInProject(projectId)} disabled={action.busy}>
            Allow in this project
          </Button>
        )}
      </div>
      <ProblemNote error={action.error} />
    </li>
  );
}

function groupConnections(items: readonly Connection[]): Reached[] {
  const found = new Map<string, Reached>();
  for (const { agent_id: agent, host, port, verdict, reason, sent_bytes, received_bytes } of items) {
    const key = JSON.stringify([agent, host, port, verdict, reason]);
    const before = found.get(key) ?? { key, agent, host, port, verdict, reason, times: 0, bytes: 0 };
    found.set(key, { ...before, times: before.times + 1, bytes: before.bytes + sent_bytes + received_bytes });
  }
  return [...found.values()];
}
