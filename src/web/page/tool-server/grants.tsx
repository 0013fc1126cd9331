/** Which agents may use a tool server. */

import { api, client } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Check } from "../../ui/field.tsx";
import { Await } from "../../ui/note.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import type { Server } from "../tool-servers/server-form.tsx";

const EVERY = "*";

export function Grants({ server: { id, agents } }: { server: Server }) {
  const action = useChange("/v1/mcp");
  const query = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const every = agents.includes(EVERY);
  const save = (next: string[]) =>
    action.run(() => client.PUT("/v1/mcp/{id}", { params: { path: { id } }, body: { agents: next } }));
  return (
    <Section title="Agents that may use it">
      <ProblemNote error={action.error} />
      <Await query={query}>
        {({ items }) => {
          // Includes agents that no longer exist, so that they can be removed.
          const ids = [...new Set([...items.map((one) => one.id), ...agents.filter((one) => one !== EVERY)])];
          const nameOf = (agent: string) => items.find((one) => one.id === agent)?.name ?? `${agent} (there is none)`;
          const toggle = (agent: string) =>
            save(agents.includes(agent) ? agents.filter((one) => one !== agent) : [...agents, agent]);
          return (
            <Panel className="p-4 pb-2">
              <fieldset disabled={action.busy}>
                <legend className="sr-only">Agents that may use it</legend>
                <Check
                  label="Every agent, also those that come later"
                  checked={every}
                  onChange={() => save(every ? items.map((one) => one.id) : [EVERY])}
                />
                {!every && (
                  <div className="grid gap-x-4 sm:grid-cols-2 lg:grid-cols-3">
                    {ids.map((agent) => (
                      <Check
                        key={agent}
                        label={nameOf(agent)}
                        checked={agents.includes(agent)}
                        onChange={() => toggle(agent)}
                      />
                    ))}
                  </div>
                )}
              </fieldset>
            </Panel>
          );
        }}
      </Await>
    </Section>
  );
}
