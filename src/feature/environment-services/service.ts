/**
 * Services for the work on projects' code. They start before the first step of a run or session, run while it works,
 * and are removed with it. A service that ends is started again. The container engine remembers them: after a crash,
 * the server continues with the running ones and removes those that nobody needs any more.
 */
import type { Services, ServicesPlan } from "../../adapter/sandbox/docker/services.ts";
import { MINUTE_MS } from "../../core/clock.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import type { SandboxServices } from "../../engine/sandbox.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import { createGroups, createUnsupportedProblem, type Groups, type GroupsDeps } from "./groups.ts";
import { type EnvironmentServices, START_SECONDS } from "./model.ts";

interface EnvironmentServicesDeps extends Omit<GroupsDeps, "services"> {
  /** Undefined when services are not available here, for the reason in `why`. */
  services: Services | undefined;
  why: string;
  servicesOf(projectId: string): EnvironmentServices | undefined;
  settings(): { memory_mb: number; cpus: number; idle_minutes: number };
  /** Ids of the runs and sessions whose work is queued or under way. */
  atWork(): ReadonlySet<string>;
}

/** The facts about a sandbox that decide whether it can reach services. */
interface SandboxFacts {
  runtime: string | undefined;
  isolation: "container" | "none";
}

export type EnvironmentServicesService = ReturnType<typeof createEnvironmentServices>;

export function createEnvironmentServices(deps: EnvironmentServicesDeps) {
  const { services, log, atWork } = deps;
  const groups = services && createGroups({ ...deps, services });

  function planOf(place: string, all: EnvironmentServices): ServicesPlan {
    const { memory_mb: memoryMb, cpus } = deps.settings();
    const services = Object.entries(all).map(([name, { env = {}, start_seconds, ...rest }]) => {
      return { ...rest, name, env, startSeconds: start_seconds ?? START_SECONDS };
    });
    return { place, services, memoryMb, cpus };
  }
  function lackOf({ runtime, isolation }: SandboxFacts): string | undefined {
    if (!services || isolation === "none") return deps.why;
    return runtime === undefined ? undefined : `sandboxes with the runtime ${runtime} do not find them by name`;
  }
  /** @throws Problem 409 `services_unsupported`. */
  function assertHere(sandbox: SandboxFacts): Groups {
    const lack = lackOf(sandbox);
    if (lack !== undefined || !groups) throw createUnsupportedProblem(lack ?? deps.why);
    return groups;
  }
  return {
    /**
     * The healthy services of this work. Undefined when its project names none, or when it does not work in the
     * project's files.
     * @throws Problem 503 `service_failed`, 409 `services_unsupported`, and those of the container engine.
     */
    async ready(work: ExecutionInfo, sandbox: SandboxFacts, signal: AbortSignal): Promise<SandboxServices | undefined> {
      const { workId, projectId, runId, userId } = work;
      const wanted = workId === undefined || projectId === undefined ? undefined : deps.servicesOf(projectId);
      if (workId === undefined || !wanted || Object.keys(wanted).length === 0) return undefined;
      const here = assertHere(sandbox);
      const refs = {
        run_id: runId,
        session_id: runId === undefined ? workId : undefined,
        project_id: projectId,
        user_id: userId,
      };
      return await here.reach({ plan: planOf(workId, wanted), refs, held: false }, signal);
    },
    /** Like `ready`, for work that is not an agent's. The services run until `close` is called. */
    async beside(place: string, projectId: string, runtime: string | undefined, signal: AbortSignal) {
      const wanted = deps.servicesOf(projectId);
      if (!wanted || Object.keys(wanted).length === 0) return undefined;
      const here = assertHere({ runtime, isolation: "container" });
      const close = () => here.drop(place);
      try {
        const asked = { plan: planOf(place, wanted), refs: { project_id: projectId }, held: true };
        return { ...(await here.reach(asked, signal)), close };
      } catch (error) {
        await close();
        throw error;
      }
    },
    /** Ends the services of a run or session that has ended, or that waits for a person. */
    end(place: string): void {
      if (groups?.has(place)) void groups.drop(place);
    },
    /** Ends services that nobody has used for a while, and removes those that an earlier process left. */
    async sweep(): Promise<void> {
      if (!services || !groups) return;
      const live = atWork();
      await groups.dropIdle(live, deps.settings().idle_minutes * MINUTE_MS);
      try {
        for (const place of await services.places())
          if (!groups.has(place) && !live.has(place)) await groups.drop(place);
      } catch (error) {
        log.debug({ err: error }, `services were not swept: ${messageOf(error)}`);
      }
    },
    /** Why services cannot run here, as the end of a sentence. Undefined when they can, or when it is not known. */
    async lack(runtime: string | undefined): Promise<string | undefined> {
      const lack = lackOf({ runtime, isolation: "container" });
      if (lack !== undefined) return lack;
      try {
        await services?.assertSupported();
        return undefined;
      } catch (error) {
        return isProblem(error) && error.code === "services_unsupported" ? error.detail : undefined;
      }
    },
    close: async (): Promise<void> => groups?.close(),
  };
}
