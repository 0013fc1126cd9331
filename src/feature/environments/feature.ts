/**
 * Environments: what the sandboxes of a project's work start with. The repository proposes one, and a person accepts
 * it.
 */
import { whyNoCaches } from "../../core/caches.ts";
import { readDockerHosts } from "../../core/docker-options.ts";
import { placeProblems, schemaProblems } from "../../engine/schema-problems.ts";
import { readYaml } from "../../engine/yaml-text.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import { whyNoSetUps } from "../setups/model.ts";
import { environmentEvents } from "./events.ts";
import { Environment } from "./model.ts";
import type { ReadOwn } from "./propose.ts";
import { environmentRoutes } from "./routes.ts";
import { createEnvironments } from "./service.ts";

type Needs = Core & { projects: Pick<ServiceOf<typeof projects>, "find" | "update" | "texts" | "sources"> };

export const readOwn: ReadOwn = (text) => {
  const yaml = readYaml(text);
  if (yaml.problems.length > 0) return { value: undefined, faults: yaml.problems };
  return { value: yaml.value, faults: placeProblems(schemaProblems(Environment, yaml.value), yaml) };
};

export const environments = defineFeature(
  "environments",
  ({ store, clock, audit, config, projects, docker, replaced }: Needs) => {
    const hosts = readDockerHosts(config.dockerHosts) ?? [];
    const whyNoBuild = whyNoSetUps(config, docker !== undefined && replaced.sandboxes === undefined);
    const noCaches = whyNoCaches(config, docker !== undefined);
    const service = createEnvironments({ store, clock, audit, projects, readOwn, hosts, whyNoBuild, noCaches });
    return { service, routes: () => environmentRoutes(service), checks: service.findings };
  },
  environmentEvents,
);
