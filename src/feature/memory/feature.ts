import { eq } from "drizzle-orm";
import { timestamp } from "../../core/clock.ts";
import { readFrontMatter, updateFrontMatter } from "../../engine/front-matter.ts";
import { users } from "../../store/tables/accounts.ts";
import { createTextFolder } from "../../store/text-folder.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { SettingsService } from "../settings/service.ts";
import { createEntryIndex } from "./entry-index.ts";
import { memoryEvents } from "./events.ts";
import { createExecutionMemories } from "./executions.ts";
import { createRecall } from "./recall.ts";
import { executionMemoryRoutes, memoryRoutes } from "./routes.ts";
import { createScores } from "./scores.ts";
import { createSearch } from "./search.ts";
import { createMemory } from "./service.ts";
import { memoryTools } from "./tools.ts";
import { watchVaults } from "./vault-watch.ts";

type Needs = Core & { agents: Pick<Agents, "exists">; settings: Pick<SettingsService, "read" | "put"> };

const SCAN_MS = 60_000;

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
    const watch = watchVaults(deps.folder.vaults, index, log);
    return {
      service: { ...service, ...executions, recallFor: recalls.forPrompt },
      routes: memoryRoutes(base, service, scores).use(executionMemoryRoutes(base, executions)),
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
      ],
      stop: watch.stop,
    };
  },
  memoryEvents,
);
