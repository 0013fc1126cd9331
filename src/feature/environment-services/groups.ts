/**
 * The services that run for a place: a run, a session, or a check. The services of a place are started together,
 * watched, started again when one ends, and removed together.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenServices, ServiceFailure, Services, ServicesPlan } from "../../adapter/sandbox/docker/services.ts";
import { conflict, isProblem, unavailable } from "../../core/errors.ts";
import type { EventRefs } from "../../core/events.ts";
import { hashJson } from "../../core/json-hash.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Masking } from "../../core/masking.ts";
import { plainLog } from "../../core/plain-log.ts";
import { raceSignal } from "../../core/race-signal.ts";
import type { Store } from "../../store/store.ts";
import type { Core } from "../feature.ts";
import { serviceChanged } from "./events.ts";

export interface GroupsDeps extends Pick<Core, "clock" | "log"> {
  store: Pick<Store, "write">;
  masking: Pick<Masking, "text">;
  services: Services;
  failureIn(error: unknown): ServiceFailure | undefined;
}

interface Asked {
  plan: ServicesPlan;
  refs: EventRefs;
  /** The services are kept, whether work is under way or not, until they are closed. */
  held: boolean;
}

interface Group {
  plan: ServicesPlan;
  key: string;
  refs: EventRefs;
  /** Aborted when nobody needs the services any more. */
  stop: AbortController;
  opened: Promise<OpenServices>;
  /** Ids of the containers that are watched. */
  watched: Set<string>;
  tooLarge: Set<string>;
  restartsLeft: number;
  usedAt: number;
  held: boolean;
}

/** How often services are started again, for all services of a place together. */
const RESTARTS = 3;
const WATCH_AGAIN_MS = 5_000;
const DETAIL_CHARACTERS = 2_000;
export const REMEDY =
  "take `services` out of the project's environment (`skep projects environment NAME --set FILE`), or let agents work in containers of one Docker engine (SANDBOX=docker)";

export const createUnsupportedProblem = (why: string) =>
  conflict(
    `The services of the project's environment cannot run here: ${why}. To work without them, ${REMEDY}.`,
    "services_unsupported",
  );

export type Groups = ReturnType<typeof createGroups>;

export function createGroups({ store, clock, log, masking, services, failureIn }: GroupsDeps) {
  const groups = new Map<string, Group>();
  const turns = createTurns();

  function take(plan: ServicesPlan, refs: EventRefs): Group {
    const found = groups.get(plan.place);
    if (found?.key === hashJson(plan.services)) return found;
    found?.stop.abort(new Error("other services were asked for"));
    const group = groupOf(plan, refs, clock.now());
    groups.set(plan.place, group);
    begin(group);
    return group;
  }
  function begin(group: Group): void {
    group.opened = open(group);
    // Callers that wait for the services get the error. There may be no such caller.
    group.opened.catch(() => {});
  }
  async function open(group: Group): Promise<OpenServices> {
    const { plan, stop } = group;
    try {
      const opened = await turns.take(plan.place, async () => {
        stop.signal.throwIfAborted();
        return await services.open(plan, (service, state) => report(store, group, service, state), stop.signal);
      });
      for (const [name, id] of opened.containers) if (!group.watched.has(id)) void watch(group, name, id);
      return opened;
    } catch (error) {
      if (!stop.signal.aborted) giveUp(group, error);
      throw error;
    }
  }
  /** Forgets the group; the next request starts the services again. */
  function giveUp(group: Group, error: unknown): void {
    const { place } = group.plan;
    if (groups.get(place) === group) groups.delete(place);
    group.stop.abort(error);
    const failure = failureIn(error);
    if (failure) report(store, group, failure.service, "failed", detailOf(masking, failure));
    else log.warn({ err: error, place }, "services could not be started");
  }
  /** Watches one container. If it ends while the services are needed, they are started again. */
  async function watch(group: Group, name: string, id: string): Promise<void> {
    const { signal } = group.stop;
    group.watched.add(id);
    while (!signal.aborted)
      try {
        return startAgain(group, id, await services.waitForEnd(name, id, signal));
      } catch (err) {
        if (signal.aborted) return;
        log.debug({ err, service: name }, "a service is not watched: the container engine does not answer");
        await sleep(WATCH_AGAIN_MS, undefined, { signal }).catch(() => {});
      }
  }
  function startAgain(group: Group, id: string, failure: ServiceFailure): void {
    if (group.stop.signal.aborted) return;
    const { service } = failure;
    const why = group.tooLarge.has(id) ? `wrote more than ${LIMITS.serviceBytes / 1024 ** 3} GB` : failure.why;
    report(store, group, service, "ended", detailOf(masking, { why, tail: failure.tail }));
    if (group.restartsLeft-- > 0) return begin(group);
    giveUp(group, Object.assign(failure, { why: `${why}, after ${RESTARTS} new starts` }));
  }
  async function drop(place: string): Promise<void> {
    groups.get(place)?.stop.abort(new Error("nobody needs the services any more"));
    groups.delete(place);
    try {
      await turns.take(place, () => services.close(place));
    } catch (err) {
      log.debug({ err, place }, "services were not removed; they will be swept");
    }
  }
  /**
   * Returns the healthy services of this place; starts them if needed. @throws Problem 503 `service_failed`, 409
   * `services_unsupported`, and those of the container engine.
   */
  async function reach({ plan, refs, held }: Asked, signal: AbortSignal) {
    for (;;) {
      const group = take(plan, refs);
      group.usedAt = clock.now();
      group.held ||= held;
      try {
        const { network, names } = await raceSignal(group.opened, signal);
        return { network, names };
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureIn(error);
        // Another request with a changed environment has replaced this group: try again with the new one.
        if (group.stop.signal.aborted && !failure && !isProblem(error) && groups.has(plan.place)) continue;
        throw failure ? createFailureProblem(failure.service, detailOf(masking, failure)) : asUnsupported(error);
      }
    }
  }

  return {
    reach,
    drop,
    has: (place: string): boolean => groups.has(place),
    /** Ends groups whose place is not at work and that nobody has used for that time, ms. */
    async dropIdle(live: ReadonlySet<string>, idleMs: number): Promise<void> {
      for (const [place, group] of groups) {
        if (group.held || live.has(place)) group.usedAt = clock.now();
        else if (clock.now() - group.usedAt >= idleMs) await drop(place);
        await endTooLarge(services, group).catch(() => {});
      }
    },
    async close(): Promise<void> {
      await Promise.all([...groups.keys()].map(drop));
      // Also waits until the services of runs that have just ended are removed.
      await turns.waitForAll();
    },
  };
}

/** Runs the engine's actions for each place one after another. */
function createTurns() {
  const turns = new Map<string, Promise<unknown>>();
  return {
    async take<T>(place: string, act: () => Promise<T>): Promise<T> {
      const before = turns.get(place) ?? Promise.resolve();
      const turn = before.then(act, act);
      turns.set(place, turn);
      try {
        return await turn;
      } finally {
        if (turns.get(place) === turn) turns.delete(place);
      }
    },
    waitForAll: () => Promise.allSettled(turns.values()),
  };
}

function groupOf(plan: ServicesPlan, refs: EventRefs, now: number): Group {
  const opened = Promise.reject<OpenServices>(new Error("not opened"));
  opened.catch(() => {});
  return {
    plan,
    key: hashJson(plan.services),
    refs,
    stop: new AbortController(),
    opened,
    watched: new Set(),
    tooLarge: new Set(),
    restartsLeft: RESTARTS,
    usedAt: now,
    held: false,
  };
}

function detailOf(masking: Pick<Masking, "text">, { why, tail }: Pick<ServiceFailure, "why" | "tail">): string {
  const lines = plainLog(masking.text(tail)).trim();
  const words = `${plainLog(masking.text(why))}${lines === "" ? "" : `. Its last lines:\n${lines}`}`;
  return words.length <= DETAIL_CHARACTERS
    ? words
    : `${words.slice(0, 500)}\n…\n${words.slice(502 - DETAIL_CHARACTERS)}`;
}

/** Kills a service that has written too much to the disk; it is then started again. */
async function endTooLarge(services: Services, group: Group): Promise<void> {
  for (const id of (await group.opened).containers.values()) {
    if ((await services.writtenBytes(id)) <= LIMITS.serviceBytes) continue;
    group.tooLarge.add(id);
    await services.kill(id);
  }
}

function report(
  store: Pick<Store, "write">,
  { refs }: Group,
  service: string,
  state: "starting" | "healthy" | "ended" | "failed",
  detail = "",
): void {
  store.write(({ emit }) => emit(serviceChanged, { ...refs, data: { service, state, detail: detail || null } }));
}

const createFailureProblem = (service: string, detail: string) =>
  unavailable("service_failed", `The service ${service} ${detail}`);
const asUnsupported = (error: unknown): unknown =>
  isProblem(error) && error.code === "services_unsupported" ? createUnsupportedProblem(error.detail) : error;
