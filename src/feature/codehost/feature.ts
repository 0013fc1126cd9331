import { Type as t } from "@sinclair/typebox";
import { gitOrigin, repositoryName } from "../../adapter/codehost/code-host.ts";
import { openCodeHost } from "../../adapter/codehost/open.ts";
import { bodyHash, deliveryOf, isSigned } from "../../adapter/codehost/signature.ts";
import { type Notice, readNotice } from "../../adapter/codehost/webhook.ts";
import { defineJob, type JobDefinition } from "../../core/jobs.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { projects } from "../projects/feature.ts";
import type { runs } from "../runs/feature.ts";
import type { SettingsService } from "../settings/service.ts";
import type { tasks } from "../tasks/feature.ts";
import { type CodeHostConnection, createConnection } from "./connection.ts";
import { createDeliveries, type Deliveries } from "./deliveries.ts";
import { codehostEvents } from "./events.ts";
import { createLinks } from "./links.ts";
import { createReact, projectsOf, type React } from "./react.ts";
import { codeHostRoutes } from "./routes.ts";

/** With a growing wait between them they reach over a day. */
const ATTEMPTS = 12;
const PARALLEL = 4;
/** A replay of what was signed longer ago than this is acted on again, by what the host says then. */
const KEPT_DAYS = 400;

/** How the host is reached: projects need it for their clones, so it stands above them. */
export const codehostConnection = defineFeature("codehostConnection", (deps: Core & { settings: SettingsService }) => ({
  service: createConnection({ ...deps, stored: deps.settings, open: openCodeHost, repositoryName, gitOrigin }),
}));

type Needs = Core & {
  codehostConnection: CodeHostConnection;
  jobs: Pick<Jobs, "enqueue">;
  projects: Pick<ServiceOf<typeof projects>, "fetch">;
  runs: Pick<ServiceOf<typeof runs>, "mergedOnHost">;
  tasks: Pick<ServiceOf<typeof tasks>, "execution">;
};

export const codehost = defineFeature(
  "codehost",
  (deps: Needs) => {
    const { store, clock, masking, base, jobs, projects, runs, tasks, codehostConnection: connection } = deps;
    const links = createLinks(store, clock);
    const react = createReact({
      ...{ store, connection, links },
      fetchProject: (id) => projects.fetch(id, undefined),
      merged(runId, merge) {
        runs.mergedOnHost(runId, merge);
        tasks.execution.merged(runId);
      },
      start: async () => ({ state: "ignored", detail: "No rule starts a run at it." }),
      review: async () => ({ state: "ignored", detail: "Reviews lead to nothing." }),
    });
    const deliveryJob: JobDefinition = defineDelivery(() => deliveries, react) as JobDefinition;
    const deliveries: Deliveries = createDeliveries({
      ...{ store, clock, masking, jobs, connection },
      reader: { isSigned, bodyHash, deliveryOf, readNotice },
      definition: () => deliveryJob as JobDefinition<never>,
    });
    const projectOf = (repository: string) => projectsOf(store, connection, repository)[0];
    return {
      routes: codeHostRoutes(base, { connection, deliveries, projectOf }),
      jobs: [deliveryJob],
      prunes: [{ keep: KEPT_DAYS, run: deliveries.prune }],
    };
  },
  codehostEvents,
);

/** Acts on what the host sent. A host that is down, or refuses our token, is asked again later. */
function defineDelivery(deliveries: () => Deliveries, react: React) {
  return defineJob(
    "codehost_delivery",
    t.Object({ delivery_id: t.String() }),
    async ({ delivery_id }) => {
      const row = deliveries().find(delivery_id);
      if (row?.state !== "queued" || row.notice === null) return undefined;
      const { state, detail, run_id = null } = await react(row.notice as Notice);
      deliveries().end(delivery_id, { state, detail, run_id });
      return { detail };
    },
    {
      ...{ parallel: PARALLEL, attempts: ATTEMPTS },
      exclusive: ({ delivery_id }) => deliveries().find(delivery_id)?.repository ?? delivery_id,
      ended({ payload, state, error }) {
        if (state === "succeeded") return;
        deliveries().end(payload.delivery_id, {
          state: "failed",
          error,
          detail: error?.message ?? "It was cancelled.",
        });
      },
    },
  );
}
