/** Notifications that leave the server when a run waits, fails or ends. */
import { hkdfSync } from "node:crypto";
import { createNotifyGuard } from "../../adapter/address-guard.ts";
import { createGuardedPost } from "../../adapter/guarded-fetch.ts";
import { createMailer } from "../../adapter/mailer.ts";
import { createVapid, encryptPush, isPushKeys, PUSH_BYTES } from "../../adapter/push/web-push.ts";
import { memoize } from "../../core/lazy.ts";
import { BUILD } from "../../core/version.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { MessengersService } from "../messengers/feature.ts";
import type { PermissionService } from "../permissions/service.ts";
import type { Pipelines } from "../pipelines/service.ts";
import type { projects } from "../projects/feature.ts";
import type { RunsService } from "../runs/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { createAnswers } from "./answers.ts";
import { createAsking } from "./asking.ts";
import { createCommands } from "./commands.ts";
import { createDeliveries, LOOKED_AT } from "./deliveries.ts";
import { createLinks } from "./links.ts";
import { createQuestions } from "./questions.ts";
import { channelRoutes } from "./routes.ts";
import { createChannels } from "./service.ts";

type Needs = Core & {
  jobs: Pick<Jobs, "enqueue">;
  settings: Pick<SettingsService, "get">;
  pipelines: Pick<Pipelines, "definitionOf">;
  projects: Pick<ServiceOf<typeof projects>, "exists" | "byName" | "find">;
  messengers: MessengersService;
  permissions: PermissionService;
  runs: RunsService;
};

export const channels = defineFeature("channels", (deps: Needs) => {
  const { store, clock, masking, config, keys, bus, projects, messengers } = deps;
  const guard = createNotifyGuard(config.notifyAllow);
  const links = createLinks({ store, clock });
  const asking = createAsking({ ...deps, links, openMessenger: messengers.open });
  const edits = asking.createEditJob(() => questions);
  const questions = createQuestions({
    ...deps,
    onClose(question) {
      const channel = service.find(question.channel_id);
      if (channel) asking.enqueueEdit(edits, question, channel);
    },
  });
  const subject = config.publicUrl ?? `mailto:${config.smtpFrom ?? "operator@example.org"}`;
  // Derived from the key that seals all secrets, so a server restored with that key keeps its subscriptions.
  const vapid = memoize(() =>
    createVapid(new Uint8Array(hkdfSync("sha256", keys.secretsKey(), "", "web-push", 32)), subject),
  );
  const commands = createCommands({
    ...deps,
    pipelineOf: deps.pipelines.definitionOf,
    defaultBudgetUsd: () => deps.settings.get().budgets.run_usd,
    callerOf: questions.callerOf,
    mask: masking.text,
    pageOf: (runId) => linkTo(`runs/${runId}`),
  });
  const answers = createAnswers({ ...deps, links, questions, commands });
  messengers.own(answers.handle);
  const service = createChannels({
    ...deps,
    assertHost: guard.assertSpelling,
    projectExists: projects.exists,
    links,
    messenger: messengers.find,
    isPushKeys,
    canAnswer: config.publicUrl !== undefined,
    canMail: config.smtpUrl !== undefined && config.smtpFrom !== undefined,
  });
  messengers.whenRemoved(service.removeWith);
  const linkTo = (page: string): string | null => {
    const address = config.publicUrl ?? deps.url();
    return address === undefined ? null : `${address}/${page}`;
  };
  const deliveries = createDeliveries({
    ...deps,
    channels: service,
    asking,
    questions,
    answersAt: config.publicUrl === undefined ? undefined : `${config.publicUrl}/v1/phone-answers`,
    wire: {
      post: createGuardedPost({ resolve: guard.resolve, userAgent: `Skep/${BUILD.version}` }),
      push: {
        maxBytes: PUSH_BYTES,
        encrypt: encryptPush,
        authorization: (endpoint, now) => vapid().authorization(endpoint, now),
      },
      mail: createMailer({ url: config.smtpUrl, from: config.smtpFrom }),
    },
    pageOf: (runId) => linkTo(runId === "" ? "" : `runs/${runId}`),
    inboxPage: () => linkTo("inbox"),
  });
  const unsubscribe = bus.subscribe(LOOKED_AT, deliveries.look);
  return {
    routes: () => channelRoutes(service, deliveries, answers, () => vapid().publicKey),
    jobs: [deliveries.job, edits],
    prunes: [
      { keep: "jobs_days", run: deliveries.prune },
      { keep: null, run: commands.prune },
    ],
    handOver: (from) => service.removeOf(from),
    start: deliveries.look,
    stop: unsubscribe,
  };
});
