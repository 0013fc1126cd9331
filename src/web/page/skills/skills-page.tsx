/** Skills: instructions that agents load when a task calls for them. */

import { Plus } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { usePages } from "../../api/queries.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { ListPage } from "../../kit/list-page.tsx";
import { AgentName } from "../../session/actor.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/facts.tsx";
import { Field, Input, InputField, Select, TextAreaField } from "../../ui/field.tsx";
import { type Column, nameColumn } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

type Skill = Schemas["Skill"];

const skillHref = ({ name, agent_id }: Pick<Skill, "name" | "agent_id">) =>
  `/skills/${encodeURIComponent(name)}${agent_id ? `?agent=${agent_id}` : ""}`;

const COLUMNS: Column<Skill>[] = [
  nameColumn("Skill", "w-1/2 min-w-40", ({ name, description }) => [name, description]),
  {
    title: "State",
    cell: ({ enabled, problems, trusted }) =>
      problems.length > 0 ? (
        <Badge tone="bad">Broken file</Badge>
      ) : !trusted ? (
        <Badge tone="wait">Unconfirmed</Badge>
      ) : enabled ? (
        <Badge tone="ok">On</Badge>
      ) : (
        <Badge>Off</Badge>
      ),
  },
  {
    title: "For",
    wide: true,
    cell: ({ agent_id }) => (
      <span className="whitespace-nowrap">{agent_id ? <AgentName id={agent_id} /> : "everybody"}</span>
    ),
  },
  {
    title: "Tags",
    wide: true,
    cell: ({ tags }) => (
      <span className="line-clamp-2 text-sm text-dim" title={tags.join(", ")}>
        {tags.join(", ")}
      </span>
    ),
  },
  { title: "Changed", wide: true, align: "right", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export default function SkillsPage() {
  const admin = useAdmin();
  const [adding, setAdding] = useState(false);
  const query = usePages("/v1/skills", { query: { limit: 100 } });
  return (
    <ListPage
      title="Skills"
      about="Instructions that an agent loads when its work needs them, by their tags or by itself."
      cli="skep skills"
      actions={
        admin && <Button label="New skill" kind="primary" icon={Plus} iconSize={15} onClick={() => setAdding(true)} />
      }
      query={query}
      columns={COLUMNS}
      keyOf={({ name, agent_id }) => `${agent_id ?? ""}/${name}`}
      hrefOf={skillHref}
      lines={6}
      empty={{
        text: "There is no skill yet. A skill says once how something is done here, such as a release.",
        action: admin && <Button onClick={() => setAdding(true)}>Write the first</Button>,
        cli: "skep skills add NAME",
      }}
    >
      {adding && <AddSkill onClose={() => setAdding(false)} />}
    </ListPage>
  );
}

function AddSkill({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation();
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  return (
    <FormDialog
      title="New skill"
      word="Create"
      changes={["/v1/skills", "/v1/agents"]}
      submit={async ({ text, words }) => {
        const agent = text("agent");
        const body: Schemas["CreateSkillBody"] = {
          name: text("name"),
          description: text("description"),
          tags: words("tags"),
          content: text("content"),
          ...(agent ? { scope: "agent", agent_id: agent } : { scope: "global" }),
        };
        const skill = await must(client.POST("/v1/skills", { body }));
        return () => navigate(skillHref(skill));
      }}
      onClose={onClose}
    >
      <InputField label="Name" name="name" required autoFocus spellCheck={false} />
      <Field label="Description" hint="The agent decides by it whether to load the skill." name="description">
        <Input required />
      </Field>
      <Field label="Tags" hint="Steps whose text holds one of them get the skill by themselves." name="tags">
        <Input placeholder="testing, review" />
      </Field>
      <Field label="For" name="agent_id">
        <Select name="agent" defaultValue="" options={[["", "Every agent"], ...(agents.data?.items ?? [])]} />
      </Field>
      <TextAreaField label="Instructions" name="content" rows={8} required />
    </FormDialog>
  );
}
