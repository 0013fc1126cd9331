/** Services such as databases that run beside the sandboxes of a project's work, as its environment says. */
import { createAgentImages } from "../../adapter/sandbox/docker/agent-image.ts";
import { createServices, ServiceFailure } from "../../adapter/sandbox/docker/services.ts";
import { MINUTE_MS } from "../../core/clock.ts";
import type { Environments } from "../environments/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import { RUN_ENDS, runWaiting } from "../runs/events.ts";
import { sessionEnded } from "../sessions/events.ts";
import type { Sessions } from "../sessions/service.ts";
import type { SettingsService } from "../settings/service.ts";
import { serviceEvents } from "./events.ts";
import { findLacks } from "./findings.ts";
import { createEnvironmentServices } from "./service.ts";

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  projects: Pick<ServiceOf<typeof projects>, "find">;
  environments: Pick<Environments, "definitionOf">;
  sessions: Pick<Sessions, "live">;
};

export const environmentServices = defineFeature(
  "environmentServices",
  (deps: Needs) => {
    const { bus, settings, environments, sessions } = deps;
    const service = createEnvironmentServices({
      ...deps,
      ...openServices(deps),
      failureIn: (error) => (error instanceof ServiceFailure ? error : undefined),
      servicesOf: (projectId) => environments.definitionOf(projectId)?.services,
      settings: () => settings.get().sandbox,
      atWork() {
        const working = sessions.live().filter(({ status }) => status === "queued" || status === "running");
        return new Set(working.map(({ id, run_id, work_id }) => run_id ?? work_id ?? id));
      },
    });
    const ends = [
      bus.subscribe([...RUN_ENDS, runWaiting], ({ run_id = "" }) => service.end(run_id)),
      // The session of a run's step does not end the run's services.
      bus.subscribe([sessionEnded], ({ run_id, session_id = "" }) => run_id === undefined && service.end(session_id)),
    ];
    return {
      service,
      duties: [{ name: "services", everyMs: MINUTE_MS, run: service.sweep }],
      checks: () => findLacks(deps, service),
      resume: service.sweep,
      async stop() {
        for (const unsubscribe of ends) unsubscribe();
        await service.close();
      },
    };
  },
  serviceEvents,
);

/** Services need the one container engine on which the sandboxes run. */
function openServices({ docker, config, instanceId, clock, log, replaced }: Needs) {
  const why = whyNone(config, docker !== undefined && replaced.sandboxes === undefined);
  if (why !== undefined || !docker) return { services: undefined, why: why ?? NO_CONTAINERS };
  const images = createAgentImages({ docker, pull: config.imagePull, onNotice: (message) => log.info(message) });
  return { services: createServices({ docker, instanceId, images, clock }), why: NO_CONTAINERS };
}

const NO_CONTAINERS = "agents do not work in containers";

function whyNone({ sandbox, dockerHosts }: Core["config"], hasEngine: boolean): string | undefined {
  if (sandbox === "kubernetes") return "there are none in a cluster";
  if (dockerHosts.length > 0 && sandbox !== "process") return "there are none with DOCKER_HOSTS";
  return hasEngine ? undefined : NO_CONTAINERS;
}
