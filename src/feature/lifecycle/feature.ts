import { LABELS } from "../../adapter/sandbox/docker/container-spec.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Sessions } from "../sessions/service.ts";
import { lifecycleRoutes } from "./routes.ts";
import { createLifecycle } from "./service.ts";

export const lifecycle = defineFeature("lifecycle", (deps: Core & { sessions: Pick<Sessions, "live"> }) => {
  const { docker, instanceId, sessions } = deps;
  const service = createLifecycle({
    ...deps,
    live: () => sessions.live(),
    async containers() {
      const rows = await docker?.containers.list([`${LABELS.instance}=${instanceId}`]).catch(() => []);
      return new Map((rows ?? []).map(({ id, labels }) => [labels[LABELS.session] ?? "", id]));
    },
  });
  return { routes: () => lifecycleRoutes(service) };
});
