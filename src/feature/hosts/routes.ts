/** /v1/hosts: several container engines, and which of them get work. */
import { Type as t } from "@sinclair/typebox";
import { pageOf, pageOfArray, pagesOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import { Host } from "./model.ts";
import type { Hosts } from "./service.ts";

const NamePath = t.Object({ name: t.String({ maxLength: 253 }) });

export const hostRoutes = (hosts: Hosts) =>
  operations("hosts", [
    operation("listHosts", "GET /v1/hosts", {
      access: "admin",
      ...pagesOf(Host),
      summary: "Container engines that agents work on, as they answer now; empty where DOCKER_HOSTS names none",
      handler: async ({ query }) => pageOfArray(await hosts.list(), pageOf(query), ({ name }) => name),
    }),
    operation("getHost", "GET /v1/hosts/:name", {
      access: "admin",
      params: NamePath,
      answer: Host,
      summary: "A container engine, as it answers now",
      handler: ({ params }) => hosts.get(params.name),
    }),
    operation("drainHost", "POST /v1/hosts/:name/drain", {
      access: "admin",
      params: NamePath,
      answer: Host,
      summary: "Give a container engine no new work; what works there ends there",
      description:
        "It stays so over restarts, until it is enabled. Work on the files of work that is still there joins it. The host is empty when its state is `drained`.",
      handler: ({ params, caller }) => hosts.drain(params.name, caller),
    }),
    operation("enableHost", "POST /v1/hosts/:name/enable", {
      access: "admin",
      params: NamePath,
      answer: Host,
      summary: "Give a container engine work again",
      handler: ({ params, caller }) => hosts.enable(params.name, caller),
    }),
  ]);
