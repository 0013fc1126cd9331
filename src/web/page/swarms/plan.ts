/** A swarm's plan as text: parsed for sending and drawing, and written from a past swarm. */
import { parse, stringify } from "yaml";
import type { Schemas } from "../../api/client.ts";
import type { RowOf } from "../../api/queries.ts";

export type Swarm = RowOf<"/v1/swarm">;
export type SwarmTask = RowOf<"/v1/swarm/{id}/tasks">;
type StepPlan = Schemas["StepPlan"];

export const TEMPLATE = `agent_id: researcher          # does every task that names nobody else
max_concurrent: 3
tasks:
  - key: survey
    prompt: List what there is.
  - key: report
    prompt: Write one page about it.
    depends_on: [survey]
`;

/** The plan of a past swarm, to be changed and started again. */
export function planText(swarm: Swarm, tasks: readonly SwarmTask[]): string {
  const { agent_id, max_concurrent, on_failure, budget_usd, project_id } = swarm;
  const omitNull = <T>(name: string, value: T | null) => (value === null ? {} : { [name]: value });
  return stringify({
    agent_id,
    max_concurrent,
    on_failure,
    ...omitNull("budget_usd", budget_usd),
    ...omitNull("project_id", project_id),
    tasks: tasks.map(({ key, title, agent_id: agent, prompt, depends_on, model }) => ({
      key,
      title,
      ...(agent === agent_id ? {} : { agent_id: agent }),
      ...omitNull("model", model),
      prompt,
      ...(depends_on.length > 0 ? { depends_on } : {}),
    })),
  });
}

/** Parses a text into the API's request body. @throws Error that says where the text is invalid. */
export function planOf(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new Error(`The plan is not YAML: ${(error as Error).message.split("\n")[0]}`);
  }
}

/** Converts tasks into steps, which the run graph can draw. */
export const stepsOf = (tasks: readonly SwarmTask[]): StepPlan[] =>
  tasks.map(({ key, title, agent_id, status, depends_on }) => ({
    id: key,
    name: title,
    description: null,
    kind: "agent",
    agent_id,
    command: null,
    needs: depends_on,
    leads_back: [],
    when: null,
    attempts: 1,
    children: { done: 0, total: 0 },
    status: status as StepPlan["status"],
  }));

export const isLive = (status: string): boolean => status === "running" || status === "ready" || status === "pending";
