import { SCRIPTED_MODEL } from "../../adapter/model/scripted.ts";
import { attempt } from "../../core/attempt.ts";
import type { Agents } from "../agents/service.ts";
import type { AttachmentService } from "../attachments/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { History } from "../history/service.ts";
import type { Jobs } from "../jobs/service.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import type { SessionFiles } from "../sessions/files.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { chatJobs } from "./jobs.ts";
import { chatRoutes } from "./routes.ts";
import { createChats } from "./service.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get" | "modelFor">;
  providers: Pick<ServiceOf<typeof providers>, "catalogue" | "anyConfigured" | "wrongModel">;
  projects: Pick<ServiceOf<typeof projects>, "exists" | "workspaces" | "works">;
  agents: Pick<Agents, "ready">;
  sessions: Sessions & { files: SessionFiles };
  jobs: Pick<Jobs, "enqueue" | "live">;
  attachments: Pick<AttachmentService, "attach">;
  history: Pick<History, "removeEnded">;
};

export const chat = defineFeature("chat", (deps: Needs) => {
  const { store, streams, eventLog, settings, providers, projects, agents, sessions, attachments } = deps;
  const { catalogue } = providers;
  const modelOfAgent = (id: string) => attempt(() => agents.ready(id).agent.config.model);
  const work = chatJobs(deps);
  const chats = createChats({
    work,
    jobs: deps.jobs,
    makesTitles: () => settings.get().models.summary !== null,
    store,
    sessions,
    events: eventLog,
    files: sessions.files,
    assertAgent: (id) => void agents.ready(id),
    projectExists: projects.exists,
    wrongModel: providers.wrongModel,
    modelOf(row) {
      const fallback = settings.modelFor("chat") ?? (providers.anyConfigured() ? null : SCRIPTED_MODEL);
      const model = row.wanted_model ?? modelOfAgent(row.agent_id) ?? fallback;
      return { model, window: model === null ? null : (catalogue.describeModel(model).context_window ?? null) };
    },
    attach: attachments.attach,
    removeEnded: deps.history.removeEnded,
    timeoutSeconds: () => settings.get().limits.timeout_seconds,
    mostOpen: () => settings.get().limits.user_open_chats,
  });
  sessions.own("chat", { onExecutionEnd: chats.onTurnEnd });
  return {
    service: chats,
    jobs: [work.compact, work.title, work.copyFiles],
    routes: () => chatRoutes({ chats, streams, lastEvent: eventLog.lastId }),
  };
});
