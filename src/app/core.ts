/** The parts below every feature: configuration, data folder, database, bus, keys, and what HTTP shares. */
import { createAddressGuard } from "../adapter/address-guard.ts";
import { dockerEndpoint } from "../adapter/docker/endpoint.ts";
import { connectFound } from "../adapter/docker.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { createClockwork } from "../core/clockwork.ts";
import type { Config } from "../core/config.ts";
import { readDockerHosts } from "../core/docker-options.ts";
import type { Logger } from "../core/log.ts";
import { createMasking } from "../core/masking.ts";
import { createSealer } from "../core/sealing.ts";
import { BUILD } from "../core/version.ts";
import type { Core } from "../feature/feature.ts";
import { RUN_ENDS, runRestarted } from "../feature/runs/events.ts";
import { createEventStreams } from "../http/event-stream.ts";
import { createIdempotency } from "../http/idempotency.ts";
import { createMetrics } from "../http/metrics.ts";
import { createSite } from "../http/site.ts";
import { createTickets } from "../http/tickets.ts";
import { unpackAddonsTo } from "../process/addons.ts";
import { createLog } from "../process/log.ts";
import { selfCommand } from "../process/self-command.ts";
import { createAudit } from "../store/audit.ts";
import { createBus } from "../store/bus.ts";
import { type DataFolder, openDataFolder } from "../store/data-folder.ts";
import { createEventLog } from "../store/event-log.ts";
import { identify } from "../store/identity.ts";
import { instanceKeys } from "../store/instance-keys.ts";
import { lockDataFolder } from "../store/lock.ts";
import { createProjectAccess } from "../store/project-access.ts";
import { databasePath, openStore, type Store } from "../store/store.ts";
import { createTextWork } from "../text/client.ts";
import { createExtractor } from "../text/extractor.ts";

/** Parts that tests replace. */
export type Replacements = Core["replaced"] & { clock?: Clock; log?: Logger; store?: Store };

export type CoreParts = Awaited<ReturnType<typeof openCore>>;

export const engineOf = ({ dockerHost, dockerHosts, dockerCertPath, hostEnv }: Config) =>
  connectFound(() => {
    // With several engines, the first is also used for tool servers and images, unless another is named for that.
    const first = readDockerHosts(dockerHosts)?.[0];
    const [host, certPath] = first && !dockerHost ? [first.address, first.tls] : [dockerHost, dockerCertPath];
    const [home, runtimeDir] = [hostEnv["HOME"], hostEnv["XDG_RUNTIME_DIR"]];
    return dockerEndpoint({ host, certPath, home, runtimeDir, env: hostEnv });
  });

/** @throws Problem with the remedy when a part cannot be opened. */
export function openCore(config: Config, replaced: Replacements = {}) {
  const masking = createMasking();
  const { clock = systemClock, log = createLog(config, masking.text) } = replaced;
  const folder = openDataFolder(config.data);
  logExposed(folder, log);
  unpackAddonsTo(folder.cache);
  const unlock = lockDataFolder(folder.root);
  const store = replaced.store ?? openOwnStore({ folder, clock, log, unlock });
  const bus = createBus((err, event) => log.error({ err, kind: event.kind }, "subscriber failed"));
  store.onCommit(bus.deliver);
  const clockwork = createClockwork(clock, (err, source) => log.error({ err, source }, "work that was due failed"));
  const eventLog = createEventLog(store);
  const keys = instanceKeys({ config, folder, log });
  if (keys.engineToken !== undefined) masking.add("ENGINE_INTERNAL_TOKEN", keys.engineToken);
  const idempotency = createIdempotency(store, clock);
  const listening: { url?: string } = {};
  const text = createTextWork({
    command: selfCommand("text-worker"),
    onRestart: (reason) => log.warn({ reason }, "a text worker ended"),
  });
  const extractor = createExtractor(selfCommand("extract"));
  const core: Omit<Core, "contributions"> = {
    config,
    clock,
    clockwork,
    log,
    masking,
    text,
    extractor,
    folder,
    store,
    bus,
    eventLog,
    keys,
    idempotency,
    replaced,
    audit: createAudit(store, clock),
    access: createProjectAccess(store, clock),
    sealer: createSealer(keys.secretsKey),
    ...identify(store, clock),
    docker: config.sandbox === "process" || config.sandbox === "kubernetes" ? undefined : engineOf(config),
    guard: createAddressGuard(config.fetchAllow),
    site: createSite(config),
    streams: createEventStreams({ log: eventLog, bus, runEnds: RUN_ENDS, runRestarted }),
    tickets: createTickets(clock),
    metrics: createMetrics(),
    url: () => listening.url,
  };
  return {
    ...core,
    listening,
    async close() {
      const closing = Promise.all([text.close(), extractor.close()]);
      if (!replaced.store) store.close();
      unlock();
      await closing;
    },
  };
}

interface OwnStore {
  folder: DataFolder;
  clock: Clock;
  log: Logger;
  /** Releases the lock when the database cannot be opened. */
  unlock(): void;
}

function openOwnStore({ folder, clock, log, unlock }: OwnStore): Store {
  try {
    return openStore({
      path: databasePath(folder.root),
      clock,
      copies: folder.backups,
      checkEvents: !BUILD.compiled,
      onEffectError: (err) => log.error({ err }, "an effect of a committed change failed"),
    });
  } catch (error) {
    unlock();
    throw error;
  }
}

const NAMED = 10;

/** Logs what other users could have read in the data folder. */
function logExposed({ root, exposed: { closed, failed } }: DataFolder, log: Logger): void {
  if (closed.length > 0)
    log.warn(
      { paths: closed.slice(0, NAMED), count: closed.length },
      "other users had rights in the data folder; they have been removed. Consider who may have read it",
    );
  if (failed.length > 0)
    log.warn(
      { paths: failed.slice(0, NAMED), count: failed.length },
      `other users have rights in the data folder that this user cannot remove; see: ls -lR ${root}`,
    );
}
