/** The controlled way out of sandboxes: a proxy for each sandbox, and a stored row for every connection. */

import type { AddressGuard } from "../../adapter/address-guard.ts";
import type { createAuthority } from "../../adapter/egress/certificate.ts";
import type { EgressRecord } from "../../adapter/egress/model.ts";
import type { createEgressProxy, EgressProxy } from "../../adapter/egress/proxy.ts";
import { toTimestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { allows, PROJECT_HOSTS, presetsIn } from "../../core/network.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import type { Route, Sandbox, SandboxSpec, WayOut } from "../../engine/sandbox.ts";
import type { Caller } from "../../http/caller.ts";
import { listById, type Page } from "../../http/list.ts";
import { egressConnections } from "../../store/tables/egress.ts";
import type { Core } from "../feature.ts";
import type { Secrets } from "../secrets/service.ts";
import { layAuthority } from "./authority.ts";
import { egressDenied } from "./events.ts";
import type { EgressConnection } from "./model.ts";
import { findPreset } from "./presets.ts";

interface EgressDeps extends Pick<Core, "store" | "clock" | "log"> {
  guard: Pick<AddressGuard, "resolve">;
  createProxy: typeof createEgressProxy;
  createAuthority: typeof createAuthority;
  secrets: Pick<Secrets, "edgeFor" | "edgeNames">;
  /** The hosts that a project allows. */
  hostsOf(projectId: string): readonly string[];
  /** @throws Problem 404 when the caller may not read the run. */
  assertRun(runId: string, caller: Caller): void;
}

export type Egress = ReturnType<typeof createEgress>;

export function createEgress({ store, clock, log, guard, createProxy, assertRun, ...deps }: EgressDeps) {
  const rows = store.rows(egressConnections);
  const refsOf = store.statement<{ user_id: string | null; project_id: string | null }>(
    "SELECT user_id, project_id FROM sessions WHERE id = ?",
  );
  let places: number = LIMITS.egressOfAll;
  const takePlace = () => {
    if (places === 0) return undefined;
    places--;
    return () => void places++;
  };
  /** Stores a connection. An execution's first denial of each host also emits an event. */
  function record(spec: SandboxSpec, executionId: string, denials: Set<string>, found: EgressRecord): void {
    const { host, port, verdict, reason } = found;
    const { sessionId, runId = null, agentId } = spec;
    store.write(({ emit }) => {
      const refs = refsOf.get([sessionId]);
      // The session was removed meanwhile, and its rows with it.
      if (!refs) return;
      rows.insert({
        id: newId("egress"),
        session_id: sessionId,
        execution_id: executionId,
        run_id: runId,
        agent_id: agentId,
        host,
        port,
        verdict,
        reason,
        sent_bytes: found.sentBytes,
        received_bytes: found.receivedBytes,
        started_at: toTimestamp(found.startedAt),
        duration_ms: Math.round(found.durationMs),
      });
      const name = `${executionId} ${host}:${port}`;
      if (verdict !== "denied" || denials.has(name) || denials.size >= MAX_DENIALS) return;
      denials.add(name);
      emit(egressDenied, {
        session_id: sessionId,
        run_id: runId ?? undefined,
        agent_id: agentId,
        user_id: refs.user_id ?? undefined,
        project_id: refs.project_id ?? undefined,
        data: { execution_id: executionId, host, port, reason: reason ?? "not_allowed" },
      });
    });
  }
  return {
    /** Opens the way out of a sandbox whose network is an allow-list. Call before any command of its agent runs. */
    async open(sandbox: Sandbox, spec: SandboxSpec): Promise<WayOut | undefined> {
      // A sandbox that uses the host's own network cannot be limited to a list.
      if (typeof spec.network === "string" || sandbox.capabilities.network === "host") return undefined;
      const lists = spec.network.allow;
      const found = new Map<string, string[]>();
      const projectId = refsOf.get([spec.sessionId])?.project_id ?? undefined;
      const isOfProject = lists.some((list) => list.includes(PROJECT_HOSTS));
      const projectHosts = () => (isOfProject && projectId !== undefined ? deps.hostsOf(projectId) : []);
      for (const preset of presetsIn([...lists, projectHosts()])) found.set(preset, await findPreset(sandbox, preset));
      const denials = new Set<string>();
      let executionId = spec.executionId;
      const { agentId, sessionId } = spec;
      const names = agentId === NO_AGENT ? [] : deps.secrets.edgeNames(agentId, { sessionId });
      const authority = names.length > 0 ? deps.createAuthority(clock.now()) : undefined;
      const trust = authority ? await layAuthority(sandbox, authority.pem) : {};
      /** Executions and hosts whose use of credentials is already in the audit log. */
      const audited = new Set<string>();
      const edge = authority && {
        certificateFor: authority.issue,
        credentialsFor(host: string, port: number) {
          const use = `${executionId} ${host}:${port}`;
          const isNew = !audited.has(use);
          audited.add(use);
          const reader = { actor: `execution:${executionId}`, sessionId };
          const found = deps.secrets.edgeFor(agentId, { host, port }, reader, isNew);
          return found.map(({ value, edge: { header, ...rest } }) => ({
            ...rest,
            value,
            header: header.toLowerCase(),
          }));
        },
      };
      const proxy: EgressProxy = await createProxy({
        takePlace,
        resolve: guard.resolve,
        now: clock.now,
        edge,
        allows: (host, port) => allows(lists, found, host, port, projectHosts()),
        onEnd: (entry) => {
          try {
            record(spec, executionId, denials, entry);
          } catch (err) {
            log.error({ err, execution: executionId }, "a connection of an agent could not be recorded");
          }
        },
      });
      const route = await sandbox.openRoute(proxy.take);
      return {
        env: {
          ...proxyVariables(`http://${route.host}:${route.port}`, spec.services?.names),
          ...trust,
          ...Object.fromEntries(names.map((name) => [name, PLACEHOLDER])),
        },
        serve: (id) => {
          executionId = id;
        },
        close() {
          route.close();
          proxy.close();
        },
      };
    },
    /**
     * Opens a way out to these hosts for a sandbox that is not an agent's. It gets no secrets, and nothing is stored.
     */
    async openTo(
      sandbox: Pick<Sandbox, "exec" | "openRoute">,
      list: readonly string[],
      onDenied: (host: string, port: number) => void,
    ): Promise<WayOut> {
      const found = new Map<string, string[]>();
      for (const preset of presetsIn([list])) found.set(preset, await findPreset(sandbox, preset));
      const proxy = await createProxy({
        takePlace,
        resolve: guard.resolve,
        now: clock.now,
        edge: undefined,
        allows: (host, port) => allows([list], found, host, port),
        onEnd: ({ verdict, host, port }) => (verdict === "denied" ? onDenied(host, port) : undefined),
      });
      return wayTo(await sandbox.openRoute(proxy.take), proxy);
    },
    /** The connections of a run, newest first. */
    list(runId: string, verdict: EgressConnection["verdict"] | undefined, page: Page, caller: Caller) {
      assertRun(runId, caller);
      return listById(rows.page([{ run_id: runId, verdict }], page), page, (row): EgressConnection => row);
    },
  };
}

const wayTo = (route: Route, proxy: EgressProxy): WayOut => ({
  env: proxyVariables(`http://${route.host}:${route.port}`),
  serve() {},
  close() {
    route.close();
    proxy.close();
  },
});

/**
 * The value of a secret's variable in the sandbox, for tools that require their credential before they send a request.
 * The proxy puts in the real one.
 */
const PLACEHOLDER = "put-in-by-skep";

/** Limit of denied hosts of one sandbox that emit an event. */
const MAX_DENIALS = 200;

/** @param beside names that are reached without the proxy. */
const proxyVariables = (proxy: string, beside: readonly string[] = []): Record<string, string> => ({
  HTTP_PROXY: proxy,
  HTTPS_PROXY: proxy,
  http_proxy: proxy,
  https_proxy: proxy,
  NO_PROXY: ["localhost", "127.0.0.1", ...beside].join(","),
  no_proxy: ["localhost", "127.0.0.1", ...beside].join(","),
  // Without this, Node's own fetch ignores the proxy variables.
  NODE_USE_ENV_PROXY: "1",
});
