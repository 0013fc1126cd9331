import { invalidField } from "../../core/errors.ts";
import type { Agents } from "../agents/service.ts";
import type { AttachmentService } from "../attachments/service.ts";
import type { Chats } from "../chat/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { History } from "../history/service.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Tasks } from "../tasks/service.ts";
import { onboardingEvents } from "./events.ts";
import { createProgress } from "./progress.ts";
import { onboardingRoutes } from "./routes.ts";
import { createOnboardings } from "./service.ts";
import { createOnboardingStore } from "./store.ts";
import { onboardingTools } from "./tools.ts";

/** Most pipelines that an interviewer is shown. */
const PIPELINES = 50;

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  providers: Pick<ServiceOf<typeof providers>, "wrongModel">;
  pipelines: Pick<Pipelines, "exists" | "list">;
  projects: Pick<ServiceOf<typeof projects>, "isTaken" | "create" | "setVision" | "repositoryAddress">;
  agents: Pick<Agents, "ready">;
  sessions: Sessions;
  attachments: Pick<AttachmentService, "attach">;
  history: Pick<History, "removeEnded">;
  chat: Pick<Chats, "pageOf">;
  tasks: Pick<Tasks, "create">;
};

export const onboarding = defineFeature(
  "onboarding",
  (deps: Needs) => {
    const { store, streams, eventLog, masking, settings, providers, pipelines, projects, agents, sessions } = deps;
    const rows = createOnboardingStore(store);
    const timeoutSeconds = () => settings.get().limits.timeout_seconds;
    const progress = createProgress({
      ...deps,
      rows,
      masker: masking,
      timeoutSeconds,
      making: { createProject: projects.create, setVision: projects.setVision, createTask: deps.tasks.create },
      nameTaken: projects.isTaken,
      pipelineExists: pipelines.exists,
      repositoryAddress: projects.repositoryAddress,
      pipelines: () => pipelines.list({ limit: PIPELINES, after: null }).items.filter(({ valid }) => valid),
    });
    sessions.own("onboarding", progress.owner);
    const onboardings = createOnboardings({
      ...deps,
      rows,
      progress,
      timeoutSeconds,
      assertAgent: (id) => void agents.ready(id),
      assertModel(id) {
        const wrong = id && providers.wrongModel(id);
        if (wrong) throw invalidField("/model", wrong);
      },
      pageOf: deps.chat.pageOf,
      removeEnded: deps.history.removeEnded,
      attach: deps.attachments.attach,
    });
    return {
      service: onboardings,
      routes: () => onboardingRoutes({ onboardings, streams, lastEvent: eventLog.lastId }),
      tools: onboardingTools(progress),
      prunes: [{ keep: "onboarding_days", run: onboardings.prune }],
    };
  },
  onboardingEvents,
);
