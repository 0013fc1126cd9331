/** The user's own log-ins. */

import { api, client } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { RowList } from "../../kit/row-list.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";

/** Describes a user agent as `Firefox on Linux`, or returns its beginning. */
function deviceOf(agent: string | null): string {
  if (!agent) return "An unnamed program";
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\//.exec(agent)?.[1];
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1];
  const names: Record<string, string> = { Edg: "Edge", OPR: "Opera" };
  return browser ? `${names[browser] ?? browser}${system ? ` on ${system}` : ""}` : agent.slice(0, 40);
}

export function Sessions() {
  const action = useChange("/v1/auth/sessions");
  const query = api.useQuery("get", "/v1/auth/sessions");
  const end = (id: string) => action.run(() => client.DELETE("/v1/auth/sessions/{id}", { params: { path: { id } } }));
  return (
    <Section title="Log-ins">
      <ProblemNote error={action.error} />
      <RowList query={query} keyOf={({ id }) => id} lines={2}>
        {({ id, current, user_agent, address, last_used_at }) => (
          <>
            <span className="font-medium">{deviceOf(user_agent)}</span>
            {current && <Badge tone="ok">this one</Badge>}
            <span className="mr-auto text-sm text-dim">
              {address} · <Ago at={last_used_at} sentence />
            </span>
            {!current && <Button label="End" kind="quiet" onClick={() => end(id)} />}
          </>
        )}
      </RowList>
    </Section>
  );
}
