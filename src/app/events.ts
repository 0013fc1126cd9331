/** Every kind of event there is, and their union: what the stream sends and a client reads. */
import { createEventCatalogue, type EventOf } from "../core/events.ts";
import { engineEvents } from "../engine/events.ts";
import { budgetEvents } from "../feature/budgets/events.ts";
import { eventEvents } from "../feature/events/events.ts";
import { executionEvents } from "../feature/executions/events.ts";
import { jobEvents } from "../feature/jobs/events.ts";
import { knowledgeGraphEvents } from "../feature/knowledge-graph/events.ts";
import { memoryEvents } from "../feature/memory/events.ts";
import { notificationEvents } from "../feature/notifications/events.ts";
import { projectEvents } from "../feature/projects/events.ts";
import { runEvents } from "../feature/runs/events.ts";
import { swarmEvents } from "../feature/swarm/events.ts";
import { taskEvents } from "../feature/tasks/events.ts";
import { usageEvents } from "../feature/usage/events.ts";

export const EVENTS = [
  ...runEvents,
  ...executionEvents,
  ...engineEvents,
  ...usageEvents,
  ...budgetEvents,
  ...swarmEvents,
  ...projectEvents,
  ...taskEvents,
  ...memoryEvents,
  ...knowledgeGraphEvents,
  ...jobEvents,
  ...notificationEvents,
  ...eventEvents,
] as const;

/** Any event, told apart by `kind`. */
export type AppEvent = EventOf<(typeof EVENTS)[number]>;

export const eventCatalogue = () => createEventCatalogue(EVENTS);
