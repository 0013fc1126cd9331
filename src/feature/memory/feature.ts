import { eq } from "drizzle-orm";
import { timestamp } from "../../core/clock.ts";
import { readFrontMatter, updateFrontMatter } from "../../engine/front-matter.ts";
import { users } from "../../store/tables/accounts.ts";
import { createTextFolder } from "../../store/text-folder.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { createConsolidation } from "./consolidate.ts";
import { createContradictions } from "./contradictions.ts";
import { createEntryIndex } from "./entry-index.ts";
import { memoryEvents } from "./events.ts";
import { createExecutionMemories } from "./executions.ts";
import { createRecall } from "./recall.ts";
import { executionMemoryRoutes, memoryRoutes } from "./routes.ts";
import { createScores } from "./scores.ts";
import { createSearch } from "./search.ts";
import { createMemory } from "./service.ts";
import { tidyingRoutes } from "./tidying-routes.ts";
import { memoryTools } from "./tools.ts";
import { watchVaults } from "./vault-watch.ts";

type Needs = Core & {
  jobs: Pick<Jobs, "enqueue">;
  agents: Pick<Agents, "exists">;
  settings: Pick<SettingsService, "read" | "put">;
};

const SCAN_MS = 60_000;
const CONSOLIDATION_MS = 3_600_000;

export const memory = defineFeature(
  "memory",
  (deps: Needs) => {
    const { store, clock, base, log, agents } = deps;
    const folder = createTextFolder(deps.folder.vaults);
    const format = { read: readFrontMatter, update: updateFrontMatter };
    const index = createEntryIndex(store, folder, format);
    const scores = createScores({ store, clock, stored: deps.settings });
    const search = createSearch(store, scores, () => timestamp(clock.now()));
    const service = createMemory({ store, clock, folder, format, index, search, scores, agentExists: agents.exists });
    const executions = createExecutionMemories({ store, memory: service, toolSources: () => deps.contributions.tools });
    const recalls = createRecall({ store, clock, search, scores });
    const isAdmin = (id: string) => store.db.select().from(users).where(eq(users.id, id)).get()?.role === "admin";
    const contradictions = createContradictions({ store, clock, memory: service });
    const consolidation = createConsolidation({
      ...{ store, clock, jobs: deps.jobs, memory: service, contradictions },
      daily: () => scores.settings().consolidate_daily,
    });
    const watch = watchVaults(deps.folder.vaults, index, log);
    return {
      service: { ...service, ...executions, recallFor: recalls.forPrompt, consolidateDue: consolidation.due },
      routes: memoryRoutes(base, service, scores)
        .use(executionMemoryRoutes(base, executions))
        .use(tidyingRoutes(base, contradictions, consolidation)),
      jobs: [consolidation.job],
      tools: memoryTools({ memory: service, executions, recalls, search, scores, isAdmin }),
      handOver: service.removeOf,
      duties: [
        {
          name: "memory-scan",
          everyMs: SCAN_MS,
          async run(signal) {
            watch.follow();
            await index.scan(signal);
          },
        },
        { name: "memory-consolidation", everyMs: CONSOLIDATION_MS, run: consolidation.due },
      ],
      stop: watch.stop,
    };
  },
  memoryEvents,
);
