/** Where a project is going, and who does which kind of work in it. */

import { ArrowDown, ArrowUp, Plus, X } from "lucide-react";
import { useParams } from "wouter";
import { stringify } from "yaml";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { ifMatch, type Tagged, useTagged } from "../../api/tagged.ts";
import { useChange } from "../../kit/change.ts";
import { DetailPage } from "../../kit/detail-page.tsx";
import { DraftProblem } from "../../kit/draft-problem.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { useDraftOf } from "../../ui/draft.ts";
import { DraftNote } from "../../ui/draft-note.tsx";
import { Check, Field, Input, Select, TextArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { shellWord } from "../../ui/format.ts";
import { MarkdownText } from "../../ui/markdown-text.tsx";
import { Await } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { Panel, Section } from "../../ui/page.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { type Project, WORK_TYPES, wordOf } from "../board/board.ts";
import { mayDo } from "../projects/roles.ts";

type Policy = Schemas["ProjectWorkflowPolicy"];
type WorkType = (typeof WORK_TYPES)[number];
type Stage = NonNullable<Policy["rules"][WorkType]>[number];

export default function PolicyPage() {
  const { id = "" } = useParams<{ id: string }>();
  const params = { path: { id } };
  const project = api.useQuery("get", "/v1/projects/{id}", { params });
  const policy = useTagged("/v1/projects/{id}/workflow-policy", params, () =>
    client.GET("/v1/projects/{id}/workflow-policy", { params }),
  );
  return (
    <DetailPage
      query={project}
      kind="Vision and policy"
      list={["/projects", "Projects"]}
      head={({ name }) => ({
        title: "Vision and policy",
        crumbs: [
          [`/board?project=${id}`, "Board"],
          [`/projects/${id}`, name],
        ],
        cli: `skep projects vision ${shellWord(name)}`,
      })}
    >
      {(project) => (
        <>
          <Vision project={project} />
          <Section title="Who does what">
            <Await query={policy}>{(tagged) => <PolicyEditor project={project} tagged={tagged} />}</Await>
          </Section>
        </>
      )}
    </DetailPage>
  );
}

function Vision({ project }: { project: Project }) {
  const action = useChange("/v1/projects");
  if (!mayDo(project.role, "maintainer"))
    return (
      <Section title="Vision">
        {project.vision ? <MarkdownText text={project.vision} /> : <p className="text-dim">None is written yet.</p>}
      </Section>
    );
  return (
    <Section title="Vision">
      <Form
        action={action}
        word="Save the vision"
        draft={`vision/${project.id}`}
        what="the vision"
        submit={async ({ raw }) => {
          const body = { vision: raw("vision").trim() || null };
          await must(client.PUT("/v1/projects/{id}/vision", { params: { path: { id: project.id } }, body }));
          notify("Saved.");
        }}
      >
        <Field
          label="Where the project is going"
          hint="Agents read it when they plan and when they add tasks. Markdown."
        >
          <TextArea name="vision" rows={6} defaultValue={project.vision ?? ""} />
        </Field>
      </Form>
    </Section>
  );
}

type Edited = Pick<Policy, "rules" | "wait_for_merge">;

/** Removes kinds of work without a stage: these use the project's pipeline. */
const withStages = (rules: Policy["rules"]): Policy["rules"] =>
  Object.fromEntries(Object.entries(rules).filter(([, list]) => list && list.length > 0));

function PolicyEditor({ project, tagged: { value, etag } }: { project: Project; tagged: Tagged<Policy> }) {
  const [kind, setKind] = useParam("work", "feature");
  const work = WORK_TYPES.find((one) => one === kind) ?? "feature";
  const saved: Edited = { rules: value.rules, wait_for_merge: value.wait_for_merge };
  const draft = useDraftOf<Edited>(`policy/${project.id}`, { saved, version: etag, what: "the policy" });
  const { rules, wait_for_merge } = draft.value;
  const change = useChange("/v1/projects/{id}/workflow-policy", "/v1/projects/{id}/tasks");
  const stages = rules[work] ?? [];
  const mayEdit = mayDo(project.role, "maintainer");
  const set = (next: Stage[]) => draft.set({ wait_for_merge, rules: { ...rules, [work]: next } });
  const params = { path: { id: project.id } };
  const save = async (version: string | undefined) => {
    const body = { wait_for_merge, rules: withStages(rules) };
    const put = () => client.PUT("/v1/projects/{id}/workflow-policy", { params, body, ...ifMatch(version) });
    if (await change.run(put, "Saved.")) draft.clear();
  };
  return (
    <Panel className="p-4">
      <DraftNote draft={draft} />
      <p className="mb-3 text-dim">
        A task goes through the stages of its kind of work, one after another. Without stages{" "}
        {project.default_pipeline_id ? `the pipeline ${project.default_pipeline_id}` : "the project's default pipeline"}{" "}
        does it.
      </p>
      <fieldset aria-label="Kinds of work" className="mb-3 flex flex-wrap gap-1">
        {WORK_TYPES.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === work}
            onClick={() => setKind(one)}
            className="h-8 rounded-md border border-line px-2.5 text-sm hover:bg-hover max-sm:h-11 aria-pressed:border-accent aria-pressed:bg-accent-soft"
          >
            {wordOf(one)}
            {(rules[one]?.length ?? 0) > 0 && <span className="ml-1 text-dim tabular-nums">{rules[one]?.length}</span>}
          </button>
        ))}
      </fieldset>
      <fieldset disabled={!mayEdit} aria-label="Stages">
        <ol className="flex flex-col gap-2">
          {stages.map((stage, at) => (
            <StageRow
              key={at.toString()}
              stage={stage}
              change={(next) => set(stages.with(at, next))}
              remove={() => set(stages.toSpliced(at, 1))}
              shift={(by) => set(stages.toSpliced(at, 1).toSpliced(at + by, 0, stage))}
              first={at === 0}
              last={at === stages.length - 1}
            />
          ))}
        </ol>
        <Button
          label="Add a stage"
          className="mt-2"
          icon={Plus}
          onClick={() => set([...stages, { stage: `stage_${stages.length + 1}`, disposition: "required" }])}
        />
        <div className="mt-4">
          <Check
            label="A task is done when its work is merged"
            hint="Otherwise it is done when its run has succeeded."
            checked={wait_for_merge}
            onChange={(event) => draft.set({ rules, wait_for_merge: event.target.checked })}
          />
        </div>
      </fieldset>
      <DraftProblem
        change={change}
        draft={draft}
        mine={stringify(draft.value)}
        theirs={stringify(saved)}
        overwrite={() => save(etag)}
      />
      <div className="mt-2 flex justify-end">
        <Button
          label="Save the policy"
          kind="primary"
          disabled={!mayEdit || !draft.isChanged}
          busy={change.busy}
          onClick={() => save(draft.version)}
        />
      </div>
    </Panel>
  );
}

interface RowProps {
  stage: Stage;
  change(stage: Stage): void;
  remove(): void;
  shift(by: -1 | 1): void;
  first: boolean;
  last: boolean;
}

function StageRow({ stage, change, remove, shift, first, last }: RowProps) {
  const many = { params: { query: { limit: 200 } } };
  const agents = api.useQuery("get", "/v1/agents", many);
  const pipelines = api.useQuery("get", "/v1/pipelines", many);
  const { stage: name, disposition, agent_id, pipeline_id } = stage;
  const who = agent_id ? `agent:${agent_id}` : pipeline_id ? `pipeline:${pipeline_id}` : "";
  const assign = (value: string) => {
    const [kind, id = ""] = value.split(":");
    change({
      stage: name,
      disposition,
      ...(kind === "agent" ? { agent_id: id } : kind === "pipeline" ? { pipeline_id: id } : {}),
    });
  };
  return (
    <li className="flex flex-wrap items-center gap-2 rounded-lg border border-line px-2 py-2">
      <Input
        aria-label="Name of the stage"
        value={name}
        onChange={(event) => change({ ...stage, stage: event.target.value })}
        className="w-40! max-sm:w-full!"
      />
      <Select
        aria-label={`Who does ${name}`}
        value={who}
        onChange={(event) => assign(event.target.value)}
        className="w-56! max-sm:w-full!"
      >
        <option value="">By hand</option>
        <optgroup label="Agents">
          {agents.data?.items.map(({ id, name: title }) => (
            <option key={id} value={`agent:${id}`}>
              {title}
            </option>
          ))}
        </optgroup>
        <optgroup label="Pipelines">
          {pipelines.data?.items.map(({ id, name: title }) => (
            <option key={id} value={`pipeline:${id}`}>
              {title || id}
            </option>
          ))}
        </optgroup>
      </Select>
      <Select
        aria-label={`Whether ${name} is required`}
        value={disposition}
        onPick={(disposition: Stage["disposition"]) => change({ ...stage, disposition })}
        className="w-32!"
      >
        <option value="required">Required</option>
        <option value="optional">Optional</option>
        <option value="skip">Skipped</option>
      </Select>
      <span className="ml-auto flex">
        <IconButton label={`Move ${name} up`} disabled={first} onClick={() => shift(-1)} icon={ArrowUp} />
        <IconButton label={`Move ${name} down`} disabled={last} onClick={() => shift(1)} icon={ArrowDown} />
        <IconButton label={`Remove ${name}`} onClick={remove} icon={X} />
      </span>
    </li>
  );
}
