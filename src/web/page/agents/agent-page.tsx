/** One agent: its instructions, what it may use, what it has done, and what it has cost. */

import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useParams } from "wouter";
import { api, client, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { type Tagged, useTagged } from "../../api/tagged.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { RowList } from "../../kit/row-list.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { emojiBefore } from "../../ui/emoji.ts";
import { Badge, FactRow } from "../../ui/facts.tsx";
import { FileProblems } from "../../ui/file-problems.tsx";
import { costText, count } from "../../ui/format.ts";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Views } from "../../ui/tabs.tsx";
import { RunList } from "../runs/run-list.tsx";
import { AgentConfig } from "./agent-config.tsx";
import { AgentPrompt } from "./agent-prompt.tsx";
import { AgentTools } from "./agent-tools.tsx";
import { AgentVoice } from "./agent-voice.tsx";

type Agent = Schemas["Agent"];

export default function AgentPage() {
  const { id = "" } = useParams<{ id: string }>();
  const params = { path: { id } };
  const query = useTagged("/v1/agents/{id}", params, () => client.GET("/v1/agents/{id}", { params }));
  return (
    <Await query={query} page="Agent" list={["/agents", "Agents"]}>
      {(tagged) => <AgentView key={id} tagged={tagged} />}
    </Await>
  );
}

function AgentView({ tagged }: { tagged: Tagged<Agent> }) {
  const agent = tagged.value;
  const { counts } = agent;
  const admin = useAdmin();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <PageHeader
        title={`${emojiBefore(agent.emoji)}${agent.name}`}
        crumbs={[["/agents", "Agents"]]}
        beside={agent.enabled ? <Status status={agent.status} /> : <Badge>Switched off</Badge>}
        about={agent.description}
        cli={`skep agents ${agent.id}`}
        actions={admin && <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDeleting(true)} />}
      />
      <FileProblems file={agent.source_file} problems={agent.problems} />
      <Spend agent={agent} />
      <Views
        label="Views of the agent"
        views={[
          { id: "prompt", title: "Instructions", view: <AgentPrompt tagged={tagged} /> },
          { id: "config", title: "Configuration", view: <AgentConfig tagged={tagged} /> },
          { id: "tools", title: "Tools", view: <AgentTools tagged={tagged} /> },
          { id: "runs", title: "Runs", count: counts.runs, view: <AgentRuns agent={agent} /> },
          { id: "secrets", title: "Secrets", count: counts.secrets, view: <AgentSecrets agent={agent} /> },
          { id: "voice", title: "Voice", view: <AgentVoice agent={agent} /> },
        ]}
      />
      {deleting && (
        <Confirm
          title={`Delete ${agent.name}?`}
          word="Delete the agent"
          onClose={() => setDeleting(false)}
          changes={["/v1/agents"]}
          act={() => client.DELETE("/v1/agents/{id}", { params: { path: { id: agent.id } } })}
          leaveTo="/agents"
        >
          Its file and its own skills are removed. Pipelines that name it no longer start. What it did stays.
        </Confirm>
      )}
    </>
  );
}

function Spend({ agent }: { agent: Agent }) {
  const summary = api.useQuery("get", "/v1/llm-calls/summary", { params: { query: { agent_id: agent.id } } });
  const totals = summary.data?.totals;
  return (
    <FactRow
      facts={[
        ["Model", agent.model ?? "the default"],
        ["Spent", totals ? costText(totals) : "…"],
        ["Model calls", totals ? count(totals.calls) : "…"],
        ["Tokens", totals ? count(totals.input_tokens + totals.output_tokens) : "…"],
        ["Skills", agent.skills.length],
        ["File", <code key="file">{agent.source_file}</code>],
      ]}
    />
  );
}

function AgentRuns({ agent }: { agent: Agent }) {
  const query = usePages("/v1/runs", { query: { agent_id: agent.id, limit: 50 } });
  return (
    <RunList
      query={query}
      empty={{
        text: "It has not worked on a run yet.",
        action: <ButtonLink href="/runs/new">Start a run</ButtonLink>,
        cli: "skep runs",
      }}
    />
  );
}

function AgentSecrets({ agent }: { agent: Agent }) {
  const query = usePages("/v1/secrets/agents/{agent_id}", { path: { agent_id: agent.id } });
  return (
    <RowList
      query={query}
      keyOf={({ id }) => id}
      lines={3}
      empty={
        <Empty
          action={<ButtonLink href="/secrets">Open the secrets</ButtonLink>}
          cli={`skep secrets grant SECRET ${agent.id}`}
        >
          No secret is granted to it. Its commands see a granted secret in their environment.
        </Empty>
      }
    >
      {({ name, description, masked_preview }) => (
        <>
          <code className="font-mono font-medium">{name}</code>
          <code className="font-mono text-sm text-dim">{masked_preview}</code>
          <span className="text-sm text-dim">{description}</span>
        </>
      )}
    </RowList>
  );
}
