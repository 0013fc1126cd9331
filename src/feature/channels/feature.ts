/** Notifications that leave the server, when a run waits, fails or ends. */
import { createNotifyGuard } from "../../adapter/address-guard.ts";
import { createGuardedPost } from "../../adapter/guarded-fetch.ts";
import { createMailer } from "../../adapter/mailer.ts";
import { BUILD } from "../../core/version.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { projects } from "../projects/feature.ts";
import { createDeliveries, NOTIFIED } from "./deliveries.ts";
import { channelRoutes } from "./routes.ts";
import { createChannels } from "./service.ts";

type Needs = Core & { jobs: Pick<Jobs, "enqueue">; projects: Pick<ServiceOf<typeof projects>, "exists"> };

export const channels = defineFeature("channels", (deps: Needs) => {
  const { store, clock, sealer, audit, eventLog, masking, config, bus, jobs, projects } = deps;
  const guard = createNotifyGuard(config.notifyAllow);
  const service = createChannels({
    ...{ store, clock, sealer, audit, assertHost: guard.assertSpelling, projectExists: projects.exists },
    canMail: config.smtpUrl !== undefined && config.smtpFrom !== undefined,
  });
  const at = (page: string): string | null => {
    const address = config.publicUrl ?? deps.url();
    return address === undefined ? null : `${address}/${page}`;
  };
  const deliveries = createDeliveries({
    ...{ store, clock, eventLog, masking, jobs, access: deps.access, channels: service },
    wire: {
      post: createGuardedPost({ resolve: guard.resolve, userAgent: `Skep/${BUILD.version}` }),
      mail: createMailer({ url: config.smtpUrl, from: config.smtpFrom }),
    },
    pageOf: (runId) => at(runId === "" ? "" : `runs/${runId}`),
    inboxPage: () => at("inbox"),
  });
  const unsubscribe = bus.subscribe(NOTIFIED, deliveries.look);
  return {
    routes: () => channelRoutes(service, deliveries),
    jobs: [deliveries.job],
    prunes: [{ keep: "jobs_days", run: deliveries.prune }],
    handOver: (from) => service.removeOf(from),
    start: deliveries.look,
    stop: unsubscribe,
  };
});
