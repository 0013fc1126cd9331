/** Reviews of work on branches of runs and sessions: people read it, comment on it, send it back, and merge it. */

import type { Chats } from "../chat/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { projects } from "../projects/feature.ts";
import type { RunsService } from "../runs/service.ts";
import type { Sessions } from "../sessions/service.ts";
import type { Tasks } from "../tasks/service.ts";
import { workAgain } from "./again.ts";
import { commentRoutes } from "./comment-routes.ts";
import { createComments } from "./comments.ts";
import { reviewEvents } from "./events.ts";
import { mergeRoutes } from "./merge-routes.ts";
import { createMerging } from "./merging.ts";
import { createReviewed } from "./reviewed.ts";
import { reviewTools } from "./tools.ts";

type Needs = Core & {
  projects: Pick<ServiceOf<typeof projects>, "branches" | "works">;
  runs: Pick<RunsService, "views" | "sendBack">;
  chat: Pick<Chats, "send">;
  sessions: Pick<Sessions, "queue" | "latest" | "find">;
  tasks: Pick<Tasks, "create">;
  jobs: Pick<Jobs, "enqueue" | "get">;
};

export const reviews = defineFeature(
  "reviews",
  ({ store, clock, access, audit, masking, projects, runs, chat, sessions, tasks, jobs }: Needs) => {
    const { views } = runs;
    const { works, branches } = projects;
    const reviewed = createReviewed({ store, works, views });
    const merging = createMerging({ store, access, reviewed, works, audit, branches, tasks, jobs });
    const comments = createComments({
      store,
      clock,
      reviewed,
      workAgain: (work, guidance, caller) => workAgain({ runs, chats: chat, sessions }, work, guidance, caller),
      fileOf: merging.file,
      mask: masking.text,
    });
    return {
      service: { ...merging, comments, reviewed },
      routes: () => [...mergeRoutes(merging, reviewed), ...commentRoutes({ comments, reviewed, views })],
      tools: reviewTools(comments),
      jobs: [merging.mergeJob],
      stop: merging.stop,
    };
  },
  reviewEvents,
);
