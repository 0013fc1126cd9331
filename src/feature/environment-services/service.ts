/**
 * Services of the work on projects' code: started for a run or session before its first step, kept while it works, started again
 * when one ends, and removed with it. The container engine is what remembers them, so a server that was killed takes up what
 * runs, and removes what nobody needs any more.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenServices, ServiceFailure, Services, ServicesPlan } from "../../adapter/sandbox/docker/services.ts";
import { type Clock, MINUTE_MS } from "../../core/clock.ts";
import { conflict, isProblem, messageOf, unavailable } from "../../core/errors.ts";
import type { EventRefs } from "../../core/events.ts";
import { hashJson } from "../../core/json-hash.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Logger } from "../../core/log.ts";
import type { Masking } from "../../core/masking.ts";
import { plainLog } from "../../core/plain-log.ts";
import { raceSignal } from "../../core/race-signal.ts";
import type { SandboxServices } from "../../engine/sandbox.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import type { Store } from "../../store/store.ts";
import { serviceChanged } from "./events.ts";
import { type EnvironmentServices, START_SECONDS } from "./model.ts";

export interface EnvironmentServicesDeps {
  store: Pick<Store, "write">;
  clock: Clock;
  log: Logger;
  masking: Pick<Masking, "text">;
  /** Undefined where there is none, for the reason in `why`. */
  services: Services | undefined;
  why: string;
  failureIn(error: unknown): ServiceFailure | undefined;
  servicesOf(projectId: string): EnvironmentServices | undefined;
  settings(): { memory_mb: number; cpus: number; idle_minutes: number };
  /** Runs and sessions whose work is queued or under way. */
  atWork(): ReadonlySet<string>;
}

/** Where a sandbox is to reach them. */
export interface SandboxFacts {
  runtime: string | undefined;
  isolation: "container" | "none";
}

interface Asked {
  plan: ServicesPlan;
  refs: EventRefs;
  /** They are kept whatever is at work, until they are closed. */
  held: boolean;
}

interface Group {
  plan: ServicesPlan;
  key: string;
  refs: EventRefs;
  /** Nobody needs it any more. */
  stop: AbortController;
  opened: Promise<OpenServices>;
  /** By container. */
  watched: Set<string>;
  tooLarge: Set<string>;
  restartsLeft: number;
  usedAt: number;
  held: boolean;
}

/** Of all services of a run or session together. */
const RESTARTS = 3;
const WATCH_AGAIN_MS = 5_000;
const DETAIL_CHARACTERS = 2_000;
export const REMEDY =
  "take `services` out of the project's environment (`skep projects environment NAME --set FILE`), or let agents work in containers of one Docker engine (SANDBOX=docker)";

export type EnvironmentServicesService = ReturnType<typeof createEnvironmentServices>;

export function createEnvironmentServices(deps: EnvironmentServicesDeps) {
  const { store, clock, log, atWork } = deps;
  /** By the run, session or check that they are for. */
  const groups = new Map<string, Group>();
  /** What is done in the engine for a place: one thing after another. */
  const turns = new Map<string, Promise<unknown>>();

  async function inTurn<T>(place: string, act: () => Promise<T>): Promise<T> {
    const before = turns.get(place) ?? Promise.resolve();
    const turn = before.then(act, act);
    turns.set(place, turn);
    try {
      return await turn;
    } finally {
      if (turns.get(place) === turn) turns.delete(place);
    }
  }
  function report(
    { refs }: Group,
    service: string,
    state: "starting" | "healthy" | "ended" | "failed",
    detail = "",
  ): void {
    store.write(({ emit }) => emit(serviceChanged, { ...refs, data: { service, state, detail: detail || null } }));
  }
  function detailOf({ why, tail }: Pick<ServiceFailure, "why" | "tail">): string {
    const lines = plainLog(deps.masking.text(tail)).trim();
    const words = `${plainLog(deps.masking.text(why))}${lines === "" ? "" : `. Its last lines:\n${lines}`}`;
    return words.length <= DETAIL_CHARACTERS
      ? words
      : `${words.slice(0, 500)}\n…\n${words.slice(502 - DETAIL_CHARACTERS)}`;
  }
  function planOf(place: string, all: EnvironmentServices): ServicesPlan {
    const { memory_mb: memoryMb, cpus } = deps.settings();
    const services = Object.entries(all).map(([name, { env = {}, start_seconds, ...rest }]) => {
      return { ...rest, name, env, startSeconds: start_seconds ?? START_SECONDS };
    });
    return { place, services, memoryMb, cpus };
  }
  function lackOf({ runtime, isolation }: SandboxFacts): string | undefined {
    if (!deps.services || isolation === "none") return deps.why;
    return runtime === undefined ? undefined : `sandboxes with the runtime ${runtime} do not find them by name`;
  }
  /** @throws Problem 409 `services_unsupported`. */
  function assertHere(sandbox: SandboxFacts): Services {
    const lack = lackOf(sandbox);
    if (lack !== undefined || !deps.services) throw unsupported(lack ?? deps.why);
    return deps.services;
  }
  function take(services: Services, plan: ServicesPlan, refs: EventRefs): Group {
    const key = hashJson(plan.services);
    const found = groups.get(plan.place);
    if (found?.key === key) return found;
    found?.stop.abort(new Error("other services were asked for"));
    const group: Group = {
      plan,
      key,
      refs,
      stop: new AbortController(),
      opened: Promise.reject(new Error("not opened")),
      watched: new Set(),
      tooLarge: new Set(),
      restartsLeft: RESTARTS,
      usedAt: clock.now(),
      held: false,
    };
    group.opened.catch(() => {});
    groups.set(plan.place, group);
    begin(services, group);
    return group;
  }
  function begin(services: Services, group: Group): void {
    group.opened = open(services, group);
    // Who waits for it gets the error. There may be nobody.
    group.opened.catch(() => {});
  }
  async function open(services: Services, group: Group): Promise<OpenServices> {
    const { plan, stop } = group;
    try {
      const opened = await inTurn(plan.place, async () => {
        stop.signal.throwIfAborted();
        return await services.open(plan, (service, state) => report(group, service, state), stop.signal);
      });
      for (const [name, id] of opened.containers) if (!group.watched.has(id)) void watch(services, group, name, id);
      return opened;
    } catch (error) {
      if (!stop.signal.aborted) giveUp(group, error);
      throw error;
    }
  }
  /** The next one who asks starts them again. */
  function giveUp(group: Group, error: unknown): void {
    const { place } = group.plan;
    if (groups.get(place) === group) groups.delete(place);
    group.stop.abort(error);
    const failure = deps.failureIn(error);
    if (failure) report(group, failure.service, "failed", detailOf(failure));
    else log.warn({ err: error, place }, "services could not be started");
  }
  /** Until it ends by itself, or nobody needs it. */
  async function watch(services: Services, group: Group, name: string, id: string): Promise<void> {
    const { signal } = group.stop;
    group.watched.add(id);
    while (!signal.aborted)
      try {
        return startAgain(services, group, id, await services.ended(name, id, signal));
      } catch (err) {
        if (signal.aborted) return;
        log.debug({ err, service: name }, "a service is not watched: the container engine does not answer");
        await sleep(WATCH_AGAIN_MS, undefined, { signal }).catch(() => {});
      }
  }
  function startAgain(services: Services, group: Group, id: string, failure: ServiceFailure): void {
    if (group.stop.signal.aborted) return;
    const { service } = failure;
    const why = group.tooLarge.has(id) ? `wrote more than ${LIMITS.serviceBytes / 1024 ** 3} GB` : failure.why;
    report(group, service, "ended", detailOf({ why, tail: failure.tail }));
    if (group.restartsLeft-- > 0) return begin(services, group);
    giveUp(group, Object.assign(failure, { why: `${why}, after ${RESTARTS} new starts` }));
  }
  async function drop(services: Services, place: string): Promise<void> {
    groups.get(place)?.stop.abort(new Error("nobody needs the services any more"));
    groups.delete(place);
    try {
      await inTurn(place, () => services.close(place));
    } catch (err) {
      log.debug({ err, place }, "services were not removed; they will be swept");
    }
  }
  async function opened(services: Services, { plan, refs, held }: Asked, signal: AbortSignal) {
    for (;;) {
      const group = take(services, plan, refs);
      group.usedAt = clock.now();
      group.held ||= held;
      try {
        const { network, names } = await raceSignal(group.opened, signal);
        return { network, names };
      } catch (error) {
        signal.throwIfAborted();
        // Somebody else has asked for others, by another environment, and may have them by now.
        if (group.stop.signal.aborted && !deps.failureIn(error) && !isProblem(error) && groups.has(plan.place))
          continue;
        throw problemOf(error);
      }
    }
  }
  function problemOf(error: unknown): unknown {
    const failure = deps.failureIn(error);
    if (failure) return unavailable("service_failed", `The service ${failure.service} ${detailOf(failure)}`);
    return isProblem(error) && error.code === "services_unsupported" ? unsupported(error.detail) : error;
  }
  /** A service that fills the disk is ended and started again. */
  async function endTooLarge(services: Services, group: Group): Promise<void> {
    for (const id of (await group.opened).containers.values()) {
      if ((await services.writtenBytes(id)) <= LIMITS.serviceBytes) continue;
      group.tooLarge.add(id);
      await services.kill(id);
    }
  }
  return {
    /**
     * The services of this work, healthy. Undefined where its project names none, or it does not work in the project's files.
     * @throws Problem 503 `service_failed`, 409 `services_unsupported`, and as the container engine says.
     */
    async ready(work: ExecutionInfo, sandbox: SandboxFacts, signal: AbortSignal): Promise<SandboxServices | undefined> {
      const { workId, projectId, runId, userId } = work;
      const wanted = workId === undefined || projectId === undefined ? undefined : deps.servicesOf(projectId);
      if (workId === undefined || !wanted || Object.keys(wanted).length === 0) return undefined;
      const services = assertHere(sandbox);
      const refs = {
        run_id: runId,
        session_id: runId === undefined ? workId : undefined,
        project_id: projectId,
        user_id: userId,
      };
      return await opened(services, { plan: planOf(workId, wanted), refs, held: false }, signal);
    },
    /** The same for something else than an agent's work, until it is closed. */
    async beside(place: string, projectId: string, runtime: string | undefined, signal: AbortSignal) {
      const wanted = deps.servicesOf(projectId);
      if (!wanted || Object.keys(wanted).length === 0) return undefined;
      const services = assertHere({ runtime, isolation: "container" });
      const close = () => drop(services, place);
      try {
        const asked = { plan: planOf(place, wanted), refs: { project_id: projectId }, held: true };
        return { ...(await opened(services, asked, signal)), close };
      } catch (error) {
        await close();
        throw error;
      }
    },
    /** Of a run or session that has ended, or waits for a person. */
    end(place: string): void {
      if (deps.services && groups.has(place)) void drop(deps.services, place);
    },
    /** Ends what nobody has used for a while, and removes what an earlier process left. */
    async sweep(): Promise<void> {
      const { services } = deps;
      if (!services) return;
      const live = atWork();
      const idleMs = deps.settings().idle_minutes * MINUTE_MS;
      for (const [place, group] of groups) {
        if (group.held || live.has(place)) group.usedAt = clock.now();
        else if (clock.now() - group.usedAt >= idleMs) await drop(services, place);
        await endTooLarge(services, group).catch(() => {});
      }
      try {
        for (const place of await services.places())
          if (!groups.has(place) && !live.has(place)) await drop(services, place);
      } catch (error) {
        log.debug({ err: error }, `services were not swept: ${messageOf(error)}`);
      }
    },
    /** Why services cannot run here, a sentence's end; undefined where they can, or nobody knows. */
    async lack(runtime: string | undefined): Promise<string | undefined> {
      const lack = lackOf({ runtime, isolation: "container" });
      if (lack !== undefined) return lack;
      try {
        await deps.services?.assertSupported();
        return undefined;
      } catch (error) {
        return isProblem(error) && error.code === "services_unsupported" ? error.detail : undefined;
      }
    },
    async close(): Promise<void> {
      const { services } = deps;
      if (services) await Promise.all([...groups.keys()].map((place) => drop(services, place)));
      // Those of runs that have just ended.
      await Promise.allSettled(turns.values());
    },
  };
}

const unsupported = (why: string) =>
  conflict(
    `The services of the project's environment cannot run here: ${why}. To work without them, ${REMEDY}.`,
    "services_unsupported",
  );
