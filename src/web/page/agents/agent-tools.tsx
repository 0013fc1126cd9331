/**
 * The tools of an agent, from its file, each of which can be switched on or off here. A switch takes effect from the
 * agent's next turn.
 */

import { useState } from "react";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import type { Tagged } from "../../api/tagged.ts";
import { useChange } from "../../kit/change.ts";
import { RowList } from "../../kit/row-list.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { SearchInput } from "../../ui/filter.tsx";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { More } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { Quiet } from "../home/needs-you.tsx";
import { AgentRules } from "./agent-rules.tsx";

/** A filter is shown if there are more tools than this. */
const MANY = 12;
const LIST = "grid gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-2";

/** The tool server that a tool comes from; empty for built-in tools. */
const originOf = (tool: string): string => (tool.includes("__") ? tool.slice(0, tool.indexOf("__")) : "");
const nameIn = (origin: string, tool: string): string => (origin ? tool.slice(origin.length + 2) : tool);

/** Groups tools by their origin, built-in ones first. */
function groupsOf(tools: string[]): [origin: string, tools: string[]][] {
  const groups = Map.groupBy(tools, originOf);
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}

export function AgentTools({ tagged }: { tagged: Tagged<Schemas["Agent"]> }) {
  const agent = tagged.value;
  const admin = useAdmin();
  const action = useChange("/v1/agent-tools", "/v1/agents");
  const [wanted, setWanted] = useState("");
  const overrides = api.useQuery("get", "/v1/agent-tools/{agent_id}", {
    params: { path: { agent_id: agent.id }, query: { limit: 200 } },
  });
  const pathOf = (tool: string) => ({ params: { path: { agent_id: agent.id, tool } } });
  const set = (tool: string, enabled: boolean) =>
    action.run(async () => {
      await must(client.PUT("/v1/agent-tools/{agent_id}/{tool}", { ...pathOf(tool), body: { enabled } }));
      notify(`${tool} is ${enabled ? "on" : "off"} for ${agent.name}.`, () => set(tool, !enabled));
    });
  const drop = (tool: string) => action.run(() => client.DELETE("/v1/agent-tools/{agent_id}/{tool}", pathOf(tool)));
  return (
    <>
      <ProblemNote error={action.error} />
      <Await query={overrides}>
        {({ items }) => {
          const switched = new Map(items.map(({ tool, enabled }) => [tool, enabled]));
          const all = [...new Set([...agent.tools, ...switched.keys()])].sort();
          return (
            <>
              {all.length > MANY && (
                <div className="mb-3 max-w-xs">
                  <SearchInput label="Filter tools" value={wanted} onChange={setWanted} />
                </div>
              )}
              {groupsOf(all.filter((tool) => tool.includes(wanted.trim().toLowerCase()))).map(([origin, tools]) => (
                <Section key={origin} title={origin ? `Of the tool server ${origin}` : "Built in"}>
                  <ul aria-label={origin ? `Tools of ${origin}` : "Tools"} className={LIST}>
                    {tools.map((tool) => (
                      <li key={tool} className="flex min-h-11 flex-wrap items-center gap-3 bg-panel px-3 py-1.5">
                        <code className="mr-auto font-mono">{nameIn(origin, tool)}</code>
                        {switched.has(tool) && <Badge>switched here</Badge>}
                        {!agent.tools.includes(tool) && <Badge>off</Badge>}
                        {admin && (
                          <>
                            {switched.has(tool) && (
                              <Button kind="quiet" disabled={action.busy} onClick={() => drop(tool)}>
                                As the file says
                              </Button>
                            )}
                            <Button
                              label={agent.tools.includes(tool) ? "Switch off" : "Switch on"}
                              kind="quiet"
                              disabled={action.busy}
                              onClick={() => set(tool, !agent.tools.includes(tool))}
                            />
                          </>
                        )}
                      </li>
                    ))}
                  </ul>
                </Section>
              ))}
            </>
          );
        }}
      </Await>
      <AgentRules tagged={tagged} />
      <Remembered agent={agent} />
    </>
  );
}

/** What people have allowed for longer than one call. */
function Remembered({ agent }: { agent: Schemas["Agent"] }) {
  const admin = useAdmin();
  const action = useChange("/v1/permissions");
  const answers = usePages("/v1/permissions/answers", { query: { agent_id: agent.id, limit: 50 } });
  const revoke = (id: string) =>
    action.run(
      () => client.DELETE("/v1/permissions/answers/{id}", { params: { path: { id } } }),
      "Taken back. The rule asks again.",
    );
  return (
    <Section title="Remembered answers">
      <ProblemNote error={action.error} />
      <RowList
        query={answers}
        label="Remembered answers"
        keyOf={({ id }) => id}
        className="min-h-11 flex-wrap items-center gap-3 px-4 py-1.5"
        empty={<Quiet>Nobody has allowed anything for longer than a call.</Quiet>}
      >
        {({ id, rule, lasts, run_id, answered_by, created_at }) => (
          <>
            <code className="mr-auto font-mono">{rule}</code>
            <span className="text-sm text-dim">
              {lasts === "agent" ? "in all its work" : run_id === null ? "in a chat" : `in ${run_id}`}, by {answered_by}
              , <Ago at={created_at} />
            </span>
            {(admin || lasts === "work") && (
              <Button label="Take back" kind="quiet" disabled={action.busy} onClick={() => revoke(id)} />
            )}
          </>
        )}
      </RowList>
      <More query={answers} quiet className="" />
    </Section>
  );
}
