/** Which tools an agent has: from its file, switched on or off here. A switch takes effect with its next turn. */
import { api, client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAdmin } from "../../shell/session.tsx";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";

export function AgentTools({ agent }: { agent: Schemas["Agent"] }) {
  const admin = useAdmin();
  const action = useAction();
  const overrides = api.useQuery("get", "/v1/agent-tools/{agent_id}", {
    params: { path: { agent_id: agent.id }, query: { limit: 200 } },
  });
  const pathOf = (tool: string) => ({ params: { path: { agent_id: agent.id, tool } } });
  const again = () => refresh("/v1/agent-tools", "/v1/agents");
  const set = (tool: string, enabled: boolean) =>
    action.run(async () => {
      await must(client.PUT("/v1/agent-tools/{agent_id}/{tool}", { ...pathOf(tool), body: { enabled } }));
      notify(`${tool} is ${enabled ? "on" : "off"} for ${agent.name}.`, () => set(tool, !enabled));
      await again();
    });
  const drop = (tool: string) =>
    action.run(async () => {
      await must(client.DELETE("/v1/agent-tools/{agent_id}/{tool}", pathOf(tool)));
      await again();
    });
  return (
    <>
      <ProblemNote error={action.error} />
      <Await query={overrides}>
        {({ items }) => {
          const switched = new Map(items.map(({ tool, enabled }) => [tool, enabled]));
          const all = [...new Set([...agent.tools, ...switched.keys()])].sort();
          return (
            <Panel>
              <ul aria-label="Tools">
                {all.map((tool) => {
                  const on = agent.tools.includes(tool);
                  return (
                    <li
                      key={tool}
                      className="flex min-h-11 flex-wrap items-center gap-3 border-b border-line px-4 py-1.5 last:border-0"
                    >
                      <code className="mr-auto font-mono">{tool}</code>
                      {switched.has(tool) && <Badge>switched here</Badge>}
                      <Badge tone={on ? "ok" : "plain"}>{on ? "on" : "off"}</Badge>
                      {admin && (
                        <>
                          <Button kind="quiet" disabled={action.busy} onClick={() => set(tool, !on)}>
                            {on ? "Switch off" : "Switch on"}
                          </Button>
                          {switched.has(tool) && (
                            <Button kind="quiet" disabled={action.busy} onClick={() => drop(tool)}>
                              As the file says
                            </Button>
                          )}
                        </>
                      )}
                    </li>
                  );
                })}
              </ul>
            </Panel>
          );
        }}
      </Await>
    </>
  );
}
