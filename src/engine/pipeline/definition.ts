/**
 * The format of `agents/_pipelines/<id>.yml`. The types, the validation and the JSON Schema for editors all derive from
 * the schemas in this file. Unknown keys are errors.
 */

import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { DAY_SECONDS } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import { Network } from "../../core/network.ts";
import { ownJson } from "../../core/own-json.ts";

/** How often a step may be visited when neither `route` nor `goto` says so. */
export const DEFAULT_MAX_VISITS = 3;
/** Attempts of a step with `on_failure: retry` when neither the file nor the agent says how many. */
export const DEFAULT_MAX_ATTEMPTS = 2;
/** Children of a `for_each` that run at once when the step does not say. */
export const DEFAULT_MAX_PARALLEL = 4;

const toClosedObject = <T extends TProperties>(properties: T, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description ? { description } : {}) });

const slug = (description: string) => Type.String({ pattern: "^[a-z0-9][a-z0-9-]{0,63}$", description });
/** Names of inputs and outputs: they are written in templates, so no dots and no spaces. */
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const variable = (description: string) => Type.String({ pattern: VARIABLE_NAME.source, description });
const text = (description: string, maxLength: number = LIMITS.textCharacters) =>
  Type.String({ minLength: 1, maxLength, description });

const model = Type.String({
  pattern: "^[a-z0-9][a-z0-9-]{0,63}/\\S{1,200}$",
  description: "Model as provider/model, e.g. ollama/qwen3.",
});
const timeout = Type.Integer({
  minimum: 1,
  maximum: 7 * DAY_SECONDS,
  description: "Most seconds that one attempt may take.",
});
const attempts = Type.Integer({ minimum: 1, maximum: 10, description: "Most attempts with `on_failure: retry`." });
const visits = Type.Integer({
  minimum: 1,
  maximum: LIMITS.stepVisits,
  description: `Most visits of the target step in all. Default ${DEFAULT_MAX_VISITS}.`,
});

const goto = toClosedObject(
  { goto: slug("Step at which the run continues."), max_visits: Type.Optional(visits) },
  "Continues the run at another step.",
);

const ON_FAILURE = Type.Union([Type.Literal("fail"), Type.Literal("retry"), Type.Literal("continue"), goto], {
  description: "What a failure does: fail the run (default), try again, continue, or go to another step.",
});

const ROUTE = toClosedObject(
  {
    on: variable("Output of this step that decides where the run continues."),
    to: Type.Record(Type.String({ minLength: 1, maxLength: 256 }), slug("Step at which the run continues."), {
      minProperties: 1,
      description: "Maps values of the output to steps. A value that is not listed continues in the normal order.",
    }),
    max_visits: Type.Optional(visits),
  },
  "Chooses the next step by an output of this step.",
);

const PREVIEW = toClosedObject(
  {
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: "Port in the sandbox on which the app listens." }),
    path: Type.Optional(
      Type.String({ pattern: "^/[\\x21-\\x7e]{0,500}$", description: "Path of the first page, from /; default /." }),
    ),
    keep_minutes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.previewKeepMinutesMost,
        description: `Minutes that the app keeps running after the step succeeded. Default ${LIMITS.previewKeepMinutes}; 0 stops it with the step.`,
      }),
    ),
    screenshots: Type.Optional(
      Type.Array(
        Type.String({ pattern: "^/[\\x21-\\x7e]{0,500}$", description: "Path of a page of the app, from /." }),
        {
          uniqueItems: true,
          maxItems: LIMITS.screenshotsPerStep,
          description: "Pages of which the sandbox image's browser takes screenshots when the step succeeds.",
        },
      ),
    ),
  },
  "An app that the step runs. People who may read the run can open it in their browser.",
);

const common = {
  id: slug("Name of the step, unique in the pipeline."),
  name: Type.Optional(text("Name of the step as people see it.", 256)),
  description: Type.Optional(text("Description of the step as people see it.", 2_000)),
  needs: Type.Optional(
    Type.Array(slug("Id of a step."), {
      uniqueItems: true,
      description: "Steps that must end before this step begins. By default the step above; [] means none.",
    }),
  ),
  when: Type.Optional(text("Condition; the step is skipped if it is not true.", 2_000)),
};

const agentWork = {
  agent: slug("Id of the agent that does the step."),
  input: text("Instructions for the agent, with {{ variables }}."),
  output_schema: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "JSON Schema of the outputs, whose type must be object.",
    }),
  ),
  outputs: Type.Optional(
    Type.Array(variable("Name of an output."), {
      uniqueItems: true,
      maxItems: 50,
      description: "Names of the outputs that the agent must give.",
    }),
  ),
  on_failure: Type.Optional(ON_FAILURE),
  model: Type.Optional(model),
  timeout_seconds: Type.Optional(timeout),
  max_attempts: Type.Optional(attempts),
  network: Type.Optional(Network),
  skills: Type.Optional(
    Type.Array(slug("Name of a skill."), {
      uniqueItems: true,
      maxItems: 10,
      description: "Skills that are always part of the prompt.",
    }),
  ),
};

export const AGENT_STEP = toClosedObject(
  { ...common, ...agentWork, preview: Type.Optional(PREVIEW), route: Type.Optional(ROUTE) },
  "A step that an agent does.",
);

export const FOR_EACH_STEP = toClosedObject(
  {
    ...common,
    ...agentWork,
    for_each: Type.Union(
      [Type.String({ minLength: 1, maxLength: 2_000 }), Type.Array(Type.Unknown(), { maxItems: LIMITS.forEachItems })],
      {
        description: "A list, or one {{ variable }} that holds a list. `item` and `index` are variables of the input.",
      },
    ),
    max_parallel: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 32,
        description: `Most items that are worked on at once. Default ${DEFAULT_MAX_PARALLEL}.`,
      }),
    ),
  },
  "A step that an agent does once for every item of a list.",
);

export const APPROVAL_STEP = toClosedObject(
  {
    ...common,
    approval: toClosedObject({
      message: text("Question to the person, with {{ variables }}.", 10_000),
      timeout_seconds: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 365 * DAY_SECONDS,
          description: "Seconds to wait for an answer. Default: forever.",
        }),
      ),
      on_timeout: Type.Optional(
        Type.Union([Type.Literal("fail"), Type.Literal("approve")], {
          description: "What happens when nobody answers in time. Default: fail.",
        }),
      ),
    }),
    on_failure: Type.Optional(
      Type.Union([Type.Literal("fail"), Type.Literal("continue"), goto], {
        description: "What a refusal or a time-out does: fail the run (default), continue, or go to another step.",
      }),
    ),
    route: Type.Optional(ROUTE),
  },
  "A step that waits for a person's decision.",
);

export const COMMAND_STEP = toClosedObject(
  {
    ...common,
    run: text(
      "Command line for the sandbox's shell. Pass values through `env`; the only variable allowed here is {{ project.check }}.",
      20_000,
    ),
    agent: Type.Optional(
      slug(
        "Id of the agent whose image, network and secrets the sandbox has. By default the instance's image and no secrets.",
      ),
    ),
    working_directory: Type.Optional(
      text("Folder of the workspace in which the command runs, with {{ variables }}. Default: the top folder.", 1_000),
    ),
    env: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 20_000 }), Type.Number(), Type.Boolean()]), {
        description: "Environment variables by name, with {{ variables }}.",
      }),
    ),
    network: Type.Optional(Network),
    preview: Type.Optional(PREVIEW),
    on_failure: Type.Optional(ON_FAILURE),
    timeout_seconds: Type.Optional(timeout),
    max_attempts: Type.Optional(attempts),
    route: Type.Optional(ROUTE),
  },
  "A step that runs a command, without a model.",
);

/** Names of environment variables. */
export const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const STEP = Type.Union([AGENT_STEP, FOR_EACH_STEP, APPROVAL_STEP, COMMAND_STEP]);

export const DEFAULTS = toClosedObject(
  {
    model: Type.Optional(model),
    timeout_seconds: Type.Optional(timeout),
    max_attempts: Type.Optional(attempts),
    budget_usd: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 100_000, description: "Most that one run may cost in US dollars." }),
    ),
  },
  "Settings for steps that set none of their own.",
);

export const INPUTS = Type.Record(
  Type.String(),
  toClosedObject({
    description: Type.Optional(text("Description of the input as people see it.", 2_000)),
    required: Type.Optional(
      Type.Boolean({ description: "Whether a run needs a value for this input. Default: false." }),
    ),
    default: Type.Optional(Type.String({ maxLength: LIMITS.textCharacters })),
  }),
  { description: "Inputs that a run can be given in addition to its task." },
);

export const PIPELINE = toClosedObject(
  {
    id: slug("Id of the pipeline, which is also the name of its file."),
    name: text("Name of the pipeline as people see it.", 256),
    description: Type.Optional(
      Type.String({ maxLength: 2_000, description: "Description of the pipeline as people see it." }),
    ),
    version: Type.Optional(
      Type.Integer({ minimum: 1, description: "Version of the pipeline, which the person who edits the file sets." }),
    ),
    defaults: Type.Optional(DEFAULTS),
    inputs: Type.Optional(INPUTS),
    steps: Type.Array(STEP, { minItems: 1, maxItems: LIMITS.pipelineSteps }),
  },
  "A pipeline: steps that agents, commands and people do, and the order between them.",
);

export type PipelineDefinition = Static<typeof PIPELINE>;
export type AgentStep = Static<typeof AGENT_STEP>;
export type ForEachStep = Static<typeof FOR_EACH_STEP>;
type ApprovalStep = Static<typeof APPROVAL_STEP>;
export type CommandStep = Static<typeof COMMAND_STEP>;
export type PipelineStep = AgentStep | ForEachStep | ApprovalStep | CommandStep;
type Route = Static<typeof ROUTE>;

export const isApproval = (step: PipelineStep): step is ApprovalStep => "approval" in step;
export const isCommand = (step: PipelineStep): step is CommandStep => "run" in step;
export const isForEach = (step: PipelineStep): step is ForEachStep => "for_each" in step;

/** The step to which a failure of this step sends the run; null when there is none. */
export function gotoOf(step: PipelineStep): { goto: string; max_visits?: number } | null {
  const rule = step.on_failure;
  return typeof rule === "object" ? rule : null;
}

/** The step's `route`; steps with `for_each` have none. */
export const routeOf = (step: PipelineStep): Route | undefined => ("route" in step ? step.route : undefined);

export const STEP_KINDS = ["agent", "for_each", "approval", "command"] as const;
/** Who or what does the step. */
export function kindOfStep(step: PipelineStep): (typeof STEP_KINDS)[number] {
  if (isApproval(step)) return "approval";
  if (isCommand(step)) return "command";
  return isForEach(step) ? "for_each" : "agent";
}

/**
 * The agent that works on the step or lends its sandbox to the command; null for approvals and for commands without an
 * agent.
 */
export const agentOf = (step: PipelineStep): string | null => ("agent" in step ? (step.agent ?? null) : null);

/** What people call the step: its name, or its id when it has no name or is not in this pipeline. */
export const stepName = (definition: PipelineDefinition, id: string): string =>
  definition.steps.find((one) => one.id === id)?.name ?? id;

/** Every agent the pipeline names, each once, in the order of the file. */
export const agentsOf = (definition: PipelineDefinition): string[] => [
  ...new Set(definition.steps.flatMap((step) => agentOf(step) ?? [])),
];

/**
 * The outputs a step is known to give (`outputs` and the properties of `output_schema` together), or null when it declares
 * neither and may give any.
 */
export function declaredOutputs(step: PipelineStep): ReadonlySet<string> | null {
  if (isApproval(step)) return new Set(["approved", "comment", "timed_out"]);
  if (isCommand(step)) return new Set(["output", "exit_code"]);
  const properties = step.output_schema?.["properties"];
  const inSchema = typeof properties === "object" && properties !== null ? Object.keys(properties) : null;
  // A schema without properties means that the step may give any outputs.
  if (step.output_schema && !inSchema) return null;
  return new Set([...(step.outputs ?? []), ...(inSchema ?? [])]);
}

/** JSON Schema of the file format, for editors (draft 2020-12). */
export function pipelineJsonSchema(): Record<string, unknown> {
  const schema = ownJson<Record<string, unknown>>(JSON.stringify(PIPELINE));
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: "Skep pipeline", ...schema };
}
