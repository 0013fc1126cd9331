/**
 * Starts a run: pipeline, task, the pipeline's inputs, project, model and budget.
 * The address may contain `pipeline`, `task` and `project`. With `again`, it contains the id of a run whose task,
 * inputs, guidance (including that of its restarts), model and own budget are proposed. A long task comes in the
 * navigation's state, so that it appears in no address, log or proxy history.
 */

import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useHistoryState } from "wouter/use-browser-location";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { useAdmin, useOwnId } from "../../session/session.tsx";
import { lastChoice, rememberChoice } from "../../ui/choice.ts";
import { writeDraft } from "../../ui/draft.ts";
import { Field, Input, TextArea } from "../../ui/field.tsx";
import { type Fields, Form } from "../../ui/form.tsx";
import { Await, Loading } from "../../ui/note.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { ModelField, PipelineField, ProjectField } from "../../ui/pickers.tsx";
import { ownBudget } from "./own-budget.ts";
import { type Choices, proposePipeline, proposeProject } from "./propose.ts";

type Pipeline = Schemas["PipelineItem"];
interface InputSpec {
  description?: string;
  required?: boolean;
  default?: string;
}

/** The model that plays a fixed transcript instead of calling a provider. */
const SCRIPTED = "demo/scripted";

const many = { params: { query: { limit: 200 } } };
/** How many runs are looked at to find a proposal. */
const NEWEST = 20;

/** An input whose value is longer than this, or has line breaks, gets a field of several lines. */
const ONE_LINE = 80;

/** Initial values of the fields. */
interface Given {
  pipeline: string | null;
  task: string | null;
  project: string | null;
  inputs: Record<string, string>;
  guidance?: string | null;
  model?: string | null;
  budget?: number | null;
}

/** The navigation state for this page. */
export interface StartState {
  /** The task to propose. */
  task?: string;
}

export default function StartPage() {
  const [params] = useSearchParams();
  const again = params.get("again");
  return (
    <div className="max-w-2xl">
      <PageHeader title="Start a run" cli='skep run PIPELINE "…" --project NAME --follow' />
      {again ? (
        <Again key={again} id={again} />
      ) : (
        <Start
          given={{
            pipeline: params.get("pipeline"),
            task: params.get("task"),
            project: params.get("project"),
            inputs: {},
          }}
          dry={params.get("dry") !== null}
        />
      )}
    </div>
  );
}

/** Starts with the values of an earlier run; the navigation's state may replace its task. */
function Again({ id }: { id: string }) {
  const proposed = useHistoryState<StartState | null>()?.task;
  const run = api.useQuery("get", "/v1/runs/{id}", { params: { path: { id } } });
  return (
    <Await query={run} rows={6}>
      {({ pipeline_id, task_description, project_name, inputs, human_context, model, budget_usd }) => (
        <Start
          given={{
            pipeline: pipeline_id,
            task: proposed ?? task_description,
            project: project_name,
            inputs,
            guidance: human_context,
            model,
            budget: budget_usd,
          }}
        />
      )}
    </Await>
  );
}

/** The newest runs; empty if they cannot be read, since a proposal is not worth an error. */
function useNewestRuns(project_id: string | undefined, enabled = true): Schemas["Run"][] | undefined {
  const query = { limit: NEWEST, ...(project_id === undefined ? {} : { project_id }) };
  const { data, error } = api.useQuery("get", "/v1/runs", { params: { query } }, { enabled });
  return error ? [] : data?.items;
}

function Start({ given, dry = false }: { given: Given; dry?: boolean }) {
  const pipelines = api.useQuery("get", "/v1/pipelines", many);
  const projects = api.useQuery("get", "/v1/projects", many);
  const newest = useNewestRuns(undefined);
  return (
    <Await query={pipelines} rows={6}>
      {({ items }) => (
        <Await query={projects} rows={6}>
          {(known) =>
            newest ? (
              <Proposed
                dry={dry}
                given={given}
                newest={newest}
                pipelines={items.filter((one) => one.valid)}
                projects={known.items}
              />
            ) : (
              <Loading rows={6} />
            )
          }
        </Await>
      )}
    </Await>
  );
}

interface ProposedProps {
  given: Given;
  dry: boolean;
  pipelines: Pipeline[];
  projects: Schemas["Project"][];
  /** The newest runs of all projects. */
  newest: Schemas["Run"][];
}

/** The form with a proposed project and pipeline. The first proposal stays, even if runs are started meanwhile. */
function Proposed({ given, dry, pipelines, projects, newest }: ProposedProps) {
  const ownId = useOwnId();
  const [choices] = useState<Choices>(() => ({
    project: lastChoice("project"),
    runProject: lastChoice("run-project"),
    pipeline: lastChoice("pipeline"),
  }));
  const [project] = useState(() =>
    given.project === null
      ? proposeProject(projects, choices, newest, ownId)
      : projects.find(({ name }) => name === given.project),
  );
  const isAsked = given.pipeline === null && project !== undefined;
  const ofProject = useNewestRuns(project?.id, isAsked);
  const runs = isAsked ? ofProject : newest;
  if (!runs) return <Loading rows={6} />;
  const ids = pipelines.map(({ id }) => id);
  const pipeline = given.pipeline ?? proposePipeline(ids, project, choices, runs, ownId);
  const proposed = { ...given, pipeline, project: given.project ?? project?.name ?? null };
  return <StartForm dry={dry} given={proposed} pipelines={pipelines} />;
}

function StartForm({ pipelines, given, dry = false }: { pipelines: Pipeline[]; given: Given; dry?: boolean }) {
  const [, navigate] = useLocation();
  const isAdmin = useAdmin();
  const [id, setId] = useState(given.pipeline ?? "");
  const draftKey = dry ? "run/dry" : "run/new";
  const action = useChange("/v1/runs");
  const pipeline = pipelines.find((one) => one.id === id);
  const inputs = Object.entries((pipeline?.inputs ?? {}) as Record<string, InputSpec>);
  const start = async ({ text, raw, number, pickFilled }: Fields) => {
    // A text of several lines is sent as typed, because the leading space may matter.
    const readLines = (name: string) => raw(name).replaceAll("\r\n", "\n");
    const answer = (name: string) => (readLines(name).trim().includes("\n") ? readLines(name) : text(name));
    const answers = inputs
      .map(([name]) => [name, answer(`input:${name}`)] as const)
      .filter(([, value]) => value !== "");
    const budget_usd = number("budget_usd");
    const run = await must(
      client.POST("/v1/runs", {
        body: {
          pipeline_id: id,
          task_description: text("task"),
          ...pickFilled("human_context", "project_name", "model"),
          ...(budget_usd === undefined ? {} : { budget_usd }),
          ...(answers.length > 0 ? { inputs: Object.fromEntries(answers) } : {}),
        },
      }),
    );
    writeDraft(draftKey, undefined);
    if (!dry) {
      rememberChoice("pipeline", id);
      rememberChoice("run-project", text("project_name"));
    }
    navigate(`/runs/${run.id}`);
  };
  /** The input's value in the run that is started again. */
  const findInput = (name: string) => (id === given.pipeline ? given.inputs[name] : undefined);
  const inputField = ([name, { description, required, default: preset }]: [string, InputSpec]) => {
    const value = findInput(name) ?? preset ?? "";
    const field = { name: `input:${name}`, required: required && !preset, defaultValue: value };
    return (
      <Field
        key={`${id} ${name}`}
        label={required ? `${name} (needed)` : name}
        hint={description}
        name={`inputs/${name}`}
      >
        {value.length > ONE_LINE || value.includes("\n") ? <TextArea {...field} /> : <Input {...field} />}
      </Field>
    );
  };
  const needed = inputs.filter(([, { required }]) => required);
  const optional = inputs.filter(([, { required }]) => !required);
  const preset = pipelines.find((one) => one.id === given.pipeline)?.defaults["budget_usd"];
  const budget = ownBudget(given.budget, typeof preset === "number" ? preset : null, isAdmin);
  const hasMore = given.guidance || given.model || budget || optional.some(([name]) => findInput(name) !== undefined);
  return (
    <Panel className="p-4">
      <Form
        action={action}
        submit={start}
        word={dry ? "Start the dry run" : "Start"}
        what="the task of a new run"
        {...(given.task ? {} : { draft: draftKey })}
      >
        {dry && (
          <p className="mb-4 rounded-md bg-run-soft px-3 py-2 text-sm">
            A dry run: the scripted model plays every agent and gives made-up outputs, so nobody is asked and nothing is
            paid. Commands of the pipeline do run, in their sandbox, and approvals do wait.
          </p>
        )}
        <PipelineField
          hint={pipeline?.description}
          defaultValue={id}
          onPick={setId}
          none="Choose a pipeline"
          required
        />
        <Field label="Task" name="task_description">
          <TextArea
            name="task"
            rows={5}
            required
            autoFocus
            defaultValue={given.task ?? (dry ? "Try the pipeline" : "")}
            placeholder="What is to be done, as you would say it to a colleague."
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
        </Field>
        {needed.map(inputField)}
        <ProjectField
          byName
          name="project_name"
          none="None: an empty folder"
          hint="Its repository is where the agents work, on a branch of the run."
          defaultValue={given.project}
        />
        <details className="mb-3" open={dry || Boolean(hasMore)}>
          <summary className="text-sm text-dim hover:text-ink">
            {optional.length > 0 ? "Guidance, model, budget, options of the pipeline" : "Guidance, model, budget"}
          </summary>
          <div className="mt-3">
            {optional.map(inputField)}
            <Field label="Guidance for every step" name="human_context">
              <TextArea rows={2} defaultValue={given.guidance ?? ""} />
            </Field>
            <ModelField none="What the pipeline and the agents say" defaultValue={dry ? SCRIPTED : given.model} />
            <Field label="Budget, USD" hint="It stops before it would cost more." name="budget_usd">
              <Input type="number" min="0.000001" step="any" inputMode="decimal" defaultValue={budget ?? ""} />
            </Field>
          </div>
        </details>
      </Form>
    </Panel>
  );
}
