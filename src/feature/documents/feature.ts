import type { Agents } from "../agents/service.ts";
import type { AttachmentService } from "../attachments/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { projects } from "../projects/feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { documentEvents } from "./events.ts";
import { defineIngest } from "./ingest.ts";
import { documentRoutes } from "./routes.ts";
import { createDocumentSearch } from "./search.ts";
import { createDocuments } from "./service.ts";
import { createDocumentStore } from "./store.ts";
import { documentTools } from "./tools.ts";
import { createTranscripts } from "./transcripts.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  jobs: Pick<Jobs, "enqueue" | "end">;
  projects: Pick<ServiceOf<typeof projects>, "exists">;
  agents: Pick<Agents, "ready">;
  sessions: Pick<Sessions, "open" | "queue">;
  attachments: Pick<AttachmentService, "keep" | "fileOf" | "pathOf" | "dropOf">;
};

export const documents = defineFeature(
  "documents",
  (deps: Needs) => {
    const { store, masking, projects, agents, sessions, settings, attachments } = deps;
    const rows = createDocumentStore(store);
    const ingest = defineIngest({ ...deps, rows, pathOf: attachments.pathOf });
    const shared = { store, keep: attachments.keep, mask: masking.text };
    const service = createDocuments({
      ...deps,
      ...shared,
      rows,
      ingest,
      search: createDocumentSearch(store),
      projectExists: projects.exists,
      attachment: attachments.fileOf,
      dropOf: attachments.dropOf,
    });
    const transcripts = createTranscripts({
      ...shared,
      documents: service,
      sessions,
      assertAgent: (id) => void agents.ready(id),
      timeoutSeconds: () => settings.get().limits.timeout_seconds,
    });
    return {
      service,
      routes: () => documentRoutes(service, transcripts),
      tools: documentTools(service, deps.access),
      jobs: [ingest],
      handOver: service.handOver,
    };
  },
  documentEvents,
);
