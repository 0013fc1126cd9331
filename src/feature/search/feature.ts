import type { Agents } from "../agents/service.ts";
import type { Chats } from "../chat/service.ts";
import type { documents } from "../documents/feature.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { KnowledgeGraph } from "../knowledge-graph/service.ts";
import type { memory } from "../memory/feature.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { RunsService } from "../runs/service.ts";
import type { Skills } from "../skills/service.ts";
import type { Team } from "../team/feature.ts";
import { searchRoutes } from "./routes.ts";
import { createSearch } from "./service.ts";

type Needs = Core & {
  agents: Pick<Agents, "listSummaries">;
  pipelines: Pick<Pipelines, "listSummaries" | "look">;
  skills: Pick<Skills, "list" | "look">;
  team: Team;
  runs: Pick<RunsService, "views">;
  chat: Pick<Chats, "searchTitles">;
  memory: Pick<ServiceOf<typeof memory>, "searchWords">;
  documents: Pick<ServiceOf<typeof documents>, "search">;
  knowledgeGraph: Pick<KnowledgeGraph, "findSymbols">;
};

export const search = defineFeature("search", ({ runs, knowledgeGraph, team, ...deps }: Needs) => ({
  routes: () =>
    searchRoutes(
      createSearch({ ...deps, runs: runs.views, graphs: knowledgeGraph, snapshotInTurns: team.folder.snapshotInTurns }),
    ),
}));
