/** /v1/hosts: several container engines, and which of them get work. */
import { Type as t } from "@sinclair/typebox";
import { pageOf, pageOfArray, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Host } from "./model.ts";
import type { Hosts } from "./service.ts";

const NamePath = t.Object({ name: t.String({ maxLength: 253 }) });

export const hostRoutes = (hosts: Hosts) =>
  tagOperations("hosts", [
    defineOperation("listHosts", "GET /v1/hosts", {
      access: "admin",
      ...pagesOf(Host),
      summary: "List the container engines that agents work on, as they answer now; empty if DOCKER_HOSTS names none",
      handler: async ({ query }) => pageOfArray(await hosts.list(), pageOf(query), ({ name }) => name),
    }),
    defineOperation("getHost", "GET /v1/hosts/:name", {
      access: "admin",
      params: NamePath,
      answer: Host,
      summary: "Get a container engine, as it answers now",
      handler: ({ params }) => hosts.get(params.name),
    }),
    defineOperation("drainHost", "POST /v1/hosts/:name/drain", {
      access: "admin",
      params: NamePath,
      answer: Host,
      summary: "Drain a container engine: it gets no new work, and its current work runs to its end",
      description:
        "The host stays drained after restarts, until it is enabled. Work that shares files with work still on the host also goes there. The host is empty when its state is `drained`.",
      handler: ({ params, caller }) => hosts.drain(params.name, caller),
    }),
    defineOperation("enableHost", "POST /v1/hosts/:name/enable", {
      access: "admin",
      params: NamePath,
      answer: Host,
      summary: "Enable a drained container engine, so that it gets work again",
      handler: ({ params, caller }) => hosts.enable(params.name, caller),
    }),
  ]);
