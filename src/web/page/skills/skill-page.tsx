/** One skill: its instructions, description and tags. */

import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useParams, useSearchParams } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { ifMatch, type Tagged, useTagged } from "../../api/tagged.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { EditForm } from "../../kit/edit-form.tsx";
import { Actor, AgentName } from "../../session/actor.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Badge, FactRow } from "../../ui/facts.tsx";
import { Field, InputField, TextArea } from "../../ui/field.tsx";
import { FileProblems } from "../../ui/file-problems.tsx";
import type { Fields } from "../../ui/form.tsx";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Ago } from "../../ui/time.tsx";
import { Unconfirmed } from "../../ui/unconfirmed.tsx";

type Skill = Schemas["Skill"];

export default function SkillPage() {
  const { name: given = "" } = useParams<{ name: string }>();
  const name = decodeURIComponent(given);
  const [search] = useSearchParams();
  const agent_id = search.get("agent") ?? undefined;
  const params = { path: { name }, query: agent_id ? { agent_id } : {} };
  const query = useTagged("/v1/skills/{name}", params, () => client.GET("/v1/skills/{name}", { params }));
  return (
    <Await query={query} page="Skill" list={["/skills", "Skills"]}>
      {(tagged) => <SkillView key={`${name} ${agent_id}`} tagged={tagged} params={params} />}
    </Await>
  );
}

interface Params {
  path: { name: string };
  query: { agent_id?: string };
}

function SkillView({ tagged, params }: { tagged: Tagged<Skill>; params: Params }) {
  const skill = tagged.value;
  const admin = useAdmin();
  const [deleting, setDeleting] = useState(false);
  const toggle = useChange("/v1/skills", "/v1/agents");
  const enable = (enabled: boolean) =>
    toggle.run(async () => {
      await must(client.PATCH("/v1/skills/{name}/enabled", { params, body: { enabled } }));
      notify(`${skill.name} is ${enabled ? "on" : "off"}.`, () => enable(!enabled));
    });
  return (
    <>
      <PageHeader
        title={skill.name}
        cli={`skep skills ${skill.name}`}
        crumbs={[["/skills", "Skills"]]}
        beside={skill.enabled ? <Badge tone="ok">On</Badge> : <Badge>Off</Badge>}
        about={skill.description}
        actions={
          admin && (
            <>
              <Button label="Delete" kind="danger" icon={Trash2} onClick={() => setDeleting(true)} />
              <Button busy={toggle.busy} onClick={() => enable(!skill.enabled)}>
                {skill.enabled ? "Switch off" : "Switch on"}
              </Button>
            </>
          )
        }
      />
      <ProblemNote error={toggle.error} />
      {!skill.trusted && <ConfirmSkill skill={skill} params={params} />}
      <FileProblems file={skill.source_file} problems={skill.problems} />
      <FactRow
        facts={[
          ["For", skill.agent_id ? <AgentName key="for" id={skill.agent_id} /> : "everybody"],
          skill.owner_id === null ? null : ["In the work of", <Actor key="owner" id={skill.owner_id} />],
          skill.origin.by === "person"
            ? null
            : ["Written by", <Actor key="author" id={skill.origin.author ?? skill.origin.by} />],
          ["File", <code key="file">{skill.source_file}</code>],
          ["Changed", <Ago key="changed" at={skill.updated_at} sentence />],
          skill.overrides_global ? ["Overrides", "the skill of this name for everybody"] : null,
          ["Tags", skill.tags.join(", ") || "–"],
        ]}
      />
      <Panel className="p-4">
        {admin ? (
          <EditForm
            tagged={tagged}
            changes={["/v1/skills"]}
            draft={`skill/${skill.agent_id ?? ""}/${skill.name}`}
            what={`the skill ${skill.name}`}
            bodyOf={bodyOf}
            send={(body, etag) => client.PUT("/v1/skills/{name}", { params, body, ...ifMatch(etag) })}
            mine={({ content }) => content}
            theirs={({ content }) => content}
          >
            {(stored) => <SkillFields skill={stored} />}
          </EditForm>
        ) : (
          <pre className="font-mono text-sm whitespace-pre-wrap">{skill.content}</pre>
        )}
      </Panel>
      {deleting && (
        <Confirm
          title={`Delete ${skill.name}?`}
          word="Delete the skill"
          onClose={() => setDeleting(false)}
          changes={["/v1/skills", "/v1/agents"]}
          act={() => client.DELETE("/v1/skills/{name}", { params })}
          leaveTo="/skills"
        >
          Its file is removed. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

const bodyOf = ({ text, raw, words }: Fields) => ({
  description: text("description"),
  tags: words("tags"),
  content: raw("content"),
});

const SkillFields = ({ skill: { description, tags, content } }: { skill: Skill }) => (
  <>
    <InputField label="Description" name="description" defaultValue={description} required />
    <InputField label="Tags" name="tags" defaultValue={tags.join(", ")} />
    <Field label="Instructions" name="content">
      <TextArea rows={18} defaultValue={content} className="font-mono text-sm!" required />
    </Field>
  </>
);

/** Lets the skill's owner or an administrator confirm the skill after reading it. */
function ConfirmSkill({ skill, params }: { skill: Skill; params: Params }) {
  const action = useChange("/v1/skills", "/v1/agents");
  const confirm = () =>
    action.run(
      () => client.PUT("/v1/skills/{name}", { params, body: { trusted: true } }),
      `${skill.name} is confirmed.`,
    );
  return (
    <Unconfirmed reason={skill.origin.outside} action={action} confirm={confirm}>
      Nobody has confirmed this skill, so no prompt holds it: it may repeat text from outside.
    </Unconfirmed>
  );
}
