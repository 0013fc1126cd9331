/** What people do with a run's work: read it, comment on it, send it back, merge it into a branch. */
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { projects } from "../projects/feature.ts";
import type { RunsService } from "../runs/service.ts";
import type { Tasks } from "../tasks/service.ts";
import { commentRoutes } from "./comment-routes.ts";
import { createComments } from "./comments.ts";
import { reviewEvents } from "./events.ts";
import { mergeRoutes } from "./merge-routes.ts";
import { createMerging } from "./merging.ts";
import { reviewTools } from "./tools.ts";

type Needs = Core & {
  projects: Pick<ServiceOf<typeof projects>, "branches">;
  runs: Pick<RunsService, "rows" | "views" | "sendBack">;
  tasks: Pick<Tasks, "create">;
  jobs: Pick<Jobs, "enqueue" | "get">;
};

export const reviews = defineFeature(
  "reviews",
  ({ store, clock, audit, masking, projects, runs, tasks, jobs }: Needs) => {
    const { rows, views } = runs;
    const merging = createMerging({ store, rows, views, audit, branches: projects.branches, tasks, jobs });
    const comments = createComments({
      store,
      clock,
      views,
      runs,
      rowOf: rows.run,
      fileOf: merging.file,
      mask: masking.text,
    });
    return {
      service: { ...merging, comments },
      routes: () => [...mergeRoutes(merging), ...commentRoutes(comments)],
      tools: reviewTools(comments),
      jobs: [merging.mergeJob],
      stop: merging.stop,
    };
  },
  reviewEvents,
);
