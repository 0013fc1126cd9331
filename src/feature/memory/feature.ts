import { createEmbed } from "../../adapter/model/embeddings.ts";
import { HOUR_MS, toTimestamp } from "../../core/clock.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import { readFrontMatter, updateFrontMatter } from "../../engine/front-matter.ts";
import { users } from "../../store/tables/accounts.ts";
import { createTextFolder } from "../../store/text-folder.ts";
import type { Agents } from "../agents/service.ts";
import type { Budgets } from "../budgets/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { providers } from "../providers/feature.ts";
import type { SettingsService } from "../settings/service.ts";
import type { StorageService } from "../storage/service.ts";
import type { UsageLog } from "../usage/service.ts";
import { createConsolidation } from "./consolidate.ts";
import { createContradictions } from "./contradictions.ts";
import { createEntries } from "./entries.ts";
import { createEntryIndex } from "./entry-index.ts";
import { memoryEvents } from "./events.ts";
import { createExecutionMemories } from "./executions.ts";
import { createMeaning } from "./meaning.ts";
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
  storage: Pick<StorageService, "assertRoom">;
  agents: Pick<Agents, "exists">;
  settings: Pick<SettingsService, "get" | "read" | "put">;
  providers: Pick<ServiceOf<typeof providers>, "catalogue" | "keys">;
  usage: Pick<UsageLog, "record">;
  budgets: Pick<Budgets, "check">;
};

const SCAN_MS = 60_000;
const CONSOLIDATION_MS = HOUR_MS;

export const memory = defineFeature(
  "memory",
  (deps: Needs) => {
    const { store, clock, log, agents } = deps;
    const folder = createTextFolder(deps.folder.vaults);
    const format = { read: readFrontMatter, update: updateFrontMatter };
    const index = createEntryIndex(store, folder, format);
    const scores = createScores({ ...deps, stored: deps.settings });
    const meaning = createMeaning({
      ...deps,
      embed: createEmbed({ keys: deps.providers.keys, prices: deps.providers.catalogue, clock }),
      model: () => deps.settings.get().models.embedding,
      record: (call) =>
        void deps.usage.record({
          agentId: NO_AGENT,
          purpose: "embedding",
          reply: { ...call, finish: "stop", attempts: 1, time_to_first_token_ms: null },
        }),
      overdrawn() {
        const over = deps.budgets.check({ agentId: NO_AGENT, estimateUsd: 0 });
        return over && `The budget is used up: $${over.spentUsd.toFixed(4)} of $${over.limitUsd} (${over.scope}).`;
      },
    });
    const search = createSearch(store, scores, () => toTimestamp(clock.now()), meaning.near);
    const entries = createEntries({
      ...deps,
      folder,
      format,
      index,
      agentExists: agents.exists,
      assertRoom: deps.storage.assertRoom,
    });
    const service = createMemory({ store, entries, search, scores });
    const executions = createExecutionMemories({ store, entries });
    const recalls = createRecall({ ...deps, search, scores });
    const people = store.rows(users);
    const isAdmin = (id: string) => people.find({ id })?.role === "admin";
    const contradictions = createContradictions({ ...deps, entries });
    const consolidation = createConsolidation({
      ...deps,
      entries,
      contradictions,
      daily: () => scores.readSettings().consolidate_daily,
    });
    const watch = watchVaults(deps.folder.vaults, index, log);
    return {
      service: {
        ...service,
        ...executions,
        add: entries.add,
        removeOf: entries.removeOf,
        recallFor: recalls.forPrompt,
        consolidateDue: consolidation.due,
      },
      routes: () => [
        ...memoryRoutes(service, entries, scores),
        ...executionMemoryRoutes(executions, entries),
        ...tidyingRoutes(contradictions, consolidation, entries),
      ],
      jobs: [consolidation.job, meaning.job],
      tools: memoryTools({ entries, recalls, search, scores, isAdmin }),
      handOver: entries.removeOf,
      duties: [
        {
          name: "memory-scan",
          everyMs: SCAN_MS,
          async run(signal) {
            watch.follow();
            await index.scan(signal);
          },
        },
        { name: "memory-vectors", everyMs: SCAN_MS, run: meaning.due },
        { name: "memory-consolidation", everyMs: CONSOLIDATION_MS, run: consolidation.due },
      ],
      async stop() {
        watch.stop();
        await folder.written();
      },
    };
  },
  memoryEvents,
);
