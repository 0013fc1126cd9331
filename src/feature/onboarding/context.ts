/**
 * What the interviewers find out: one section per phase, with the shape that the section must have when its phase ends.
 * Pure.
 */
import { type Static, type TObject, Type as t } from "@sinclair/typebox";
import { oneOf, orNull } from "../../core/schema.ts";
import { ProjectCreate } from "../projects/model.ts";
import { Priority, WorkType } from "../tasks/model.ts";

export const PHASES = ["intake", "strategy", "product", "architecture"] as const;
export type Phase = (typeof PHASES)[number];
export const PhaseOrDone = oneOf(...PHASES, "done");

const strict = { additionalProperties: false } as const;
const SOLID = "\\S";
const Line = (description: string) => t.String({ minLength: 1, maxLength: 500, pattern: SOLID, description });
const Text = (description: string) => t.String({ minLength: 1, maxLength: 4_000, pattern: SOLID, description });
const Lines = (minItems: number, description: string) =>
  t.Array(t.String({ minLength: 1, maxLength: 500, pattern: SOLID }), { minItems, maxItems: 20, description });

const Intake = t.Object(
  {
    name: { ...ProjectCreate.properties.name, description: "Name of the project: short, on one line." },
    summary: Text("What is to be built or changed, in a paragraph."),
    audience: t.Optional(Line("The people who will use the project.")),
    repository: t.Optional({
      ...ProjectCreate.properties.repository,
      description: "Address of existing code, if there is any; it is cloned when the project is created.",
    }),
  },
  strict,
);

const Strategy = t.Object(
  {
    problem: Text("What is wrong or missing today, and for whom."),
    goals: Lines(1, "What is true when it is done; each can be checked."),
    non_goals: t.Optional(Lines(0, "What it is not to do.")),
    success: t.Optional(Lines(0, "How success is measured.")),
  },
  strict,
);

const Product = t.Object(
  {
    features: t.Array(
      t.Object({ title: Line("A few words."), description: Text("What a user can do with it.") }, strict),
      {
        minItems: 1,
        maxItems: 20,
        description: "Features, the most important first.",
      },
    ),
    first_release: t.Optional(Text("The smallest useful version.")),
    constraints: t.Optional(Lines(0, "Constraints: laws, deadlines, costs, systems beside it.")),
  },
  strict,
);

const Key = t.String({ minLength: 1, maxLength: 60, pattern: "^[a-z0-9][a-z0-9_-]*$" });
const FirstTask = t.Object(
  {
    key: { ...Key, description: "Name by which later tasks of the list refer to this task." },
    title: Line("The result, in a few words."),
    description: Text("What to do, where, and how to check it; understandable on its own."),
    priority: t.Optional(Priority),
    work_type: t.Optional(WorkType),
    depends_on: t.Optional(
      t.Array(Key, {
        maxItems: 20,
        uniqueItems: true,
        description: "Keys of earlier tasks in the list that this task depends on.",
      }),
    ),
  },
  strict,
);

const Architecture = t.Object(
  {
    approach: Text("Parts, languages, how they fit together."),
    decisions: t.Optional(
      t.Array(t.Object({ decision: Line("What was decided."), reason: Line("Why.") }, strict), { maxItems: 20 }),
    ),
    risks: t.Optional(Lines(0, "What may go wrong.")),
    check: t.Optional({
      ...ProjectCreate.properties.check,
      description: "Command line whose exit code tells whether the code works, if one is known.",
    }),
    pipeline_id: orNull(
      t.String({ minLength: 1, maxLength: 64, description: "Pipeline for the project's tasks; null if none fits." }),
    ),
    tasks: t.Array(FirstTask, {
      minItems: 1,
      maxItems: 30,
      description: "First tasks of the project, in the order of the work.",
    }),
  },
  strict,
);

/** The shape that each section must have when its phase ends. */
export const SECTIONS = { intake: Intake, strategy: Strategy, product: Product, architecture: Architecture } as const;

const part = <T extends TObject>(section: T) => t.Optional(t.Partial(section, strict));

/** What is known so far: any of the sections, with any of their fields. */
export const OnboardingContext = t.Object(
  { intake: part(Intake), strategy: part(Strategy), product: part(Product), architecture: part(Architecture) },
  strict,
);
export type OnboardingContext = Static<typeof OnboardingContext>;

export interface WholeContext {
  intake: Static<typeof Intake>;
  strategy: Static<typeof Strategy>;
  product: Static<typeof Product>;
  architecture: Static<typeof Architecture>;
}

/** Merges `more` into the context: given fields replace present ones, and lists are replaced as a whole. */
export function mergeContext(context: OnboardingContext, more: OnboardingContext): OnboardingContext {
  const sections = PHASES.flatMap((phase) => {
    const section = { ...context[phase], ...more[phase] };
    return Object.keys(section).length > 0 ? [[phase, section]] : [];
  });
  return Object.fromEntries(sections);
}

/**
 * Checks the tasks' dependencies. A task may depend only on tasks above it in the list, which rules out cycles.
 * @returns the faults, if any.
 */
export function taskFaults(tasks: WholeContext["architecture"]["tasks"]): string[] {
  const above = new Set<string>();
  return tasks.flatMap(({ key, depends_on = [] }, index) => {
    const faults = depends_on
      .filter((other) => !above.has(other))
      .map((other) => `/architecture/tasks/${index}/depends_on: no task above it has the key ${other}`);
    if (above.has(key)) faults.push(`/architecture/tasks/${index}/key: a task above it has this key`);
    above.add(key);
    return faults;
  });
}

const list = (title: string, items: readonly string[] | undefined): string[] =>
  items?.length ? [`## ${title}\n\n${items.map((item) => `- ${item}`).join("\n")}`] : [];
const formatParagraph = (title: string, text: string | undefined): string[] => (text ? [`## ${title}\n\n${text}`] : []);

/** The project's vision as Markdown. */
export function visionOf({ intake, strategy, product, architecture }: WholeContext): string {
  return [
    intake.summary,
    ...formatParagraph("For whom", intake.audience),
    ...formatParagraph("Problem", strategy.problem),
    ...list("Goals", strategy.goals),
    ...list("Not goals", strategy.non_goals),
    ...list("Success", strategy.success),
    ...list(
      "Features",
      product.features.map(({ title, description }) => `**${title}**: ${description}`),
    ),
    ...formatParagraph("First release", product.first_release),
    ...list("Constraints", product.constraints),
    ...formatParagraph("Approach", architecture.approach),
    ...list(
      "Decisions",
      architecture.decisions?.map(({ decision, reason }) => `${decision} (${reason})`),
    ),
    ...list("Risks", architecture.risks),
  ].join("\n\n");
}
