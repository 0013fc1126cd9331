/** The product without HTTP on a folder of its own. The test writes the agents and pipelines and plays the model. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AppOptions, openHouse } from "../app.ts";
import { readConfig } from "../core/config.ts";
import type { SkepEvent } from "../core/events.ts";
import { RUN_ENDS } from "../feature/runs/events.ts";
import type { RunCreate } from "../feature/runs/model.ts";
import { LOCAL_ADMIN } from "../http/caller.ts";

const AGENT = "---\nname: Worker\n---\nYou work.";

export interface RigOptions extends AppOptions {
  /** Pipeline files by id. */
  pipelines: Record<string, string>;
  /** Transcript of the scripted model, YAML or JSON. */
  script?: string;
  /** AGENT.md files by agent id; `worker` always exists. */
  agents?: Record<string, string>;
  /** Configuration, as environment variables. */
  env?: Record<string, string>;
}

export type Rig = Awaited<ReturnType<typeof openRig>>;

/** Opens a rig, which is not started yet. */
export async function openRig({ pipelines, script, agents = {}, env = {}, ...options }: RigOptions) {
  const folder = mkdtempSync(join(tmpdir(), "skep-rig-"));
  const write = (path: string, text: string): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  for (const [id, text] of Object.entries({ worker: AGENT, ...agents })) write(`data/agents/${id}/AGENT.md`, text);
  for (const [id, text] of Object.entries(pipelines)) write(`data/agents/_pipelines/${id}.yml`, text);
  const config = readConfig({
    DATA: join(folder, "data"),
    SANDBOX: "process",
    LOG_LEVEL: "silent",
    MAX_EXECUTIONS: "8",
    ...(script === undefined ? {} : { DEMO_SCRIPT: write("script.yml", `version: 1\n${script}`) }),
    ...env,
  });
  let house = await openHouse(config, options);
  let running = false;
  const stop = async () => {
    if (running) await house.stop();
    running = false;
  };
  const events = (): SkepEvent[] => house.core.eventLog.read(0, 100_000);

  /** Resolves with the first event that fits, including past ones. */
  const event = (fits: (event: SkepEvent) => boolean): Promise<SkepEvent> =>
    new Promise((resolve) => {
      const past = events().find(fits);
      if (past) return resolve(past);
      const unsubscribe = house.core.bus.subscribeAll((one) => {
        if (!fits(one)) return;
        unsubscribe();
        resolve(one);
      });
    });
  return {
    event,
    events,
    get services() {
      return house.services;
    },
    get store() {
      return house.core.store;
    },
    get access() {
      return house.core.access;
    },
    workspaceOf: (id: string) => join(house.core.folder.workspaces, id),
    repositoryOf: (projectId: string) => join(house.core.folder.projects, projectId, "git"),
    async start() {
      running = true;
      await house.start();
      await house.resume();
    },
    stop,
    /** Stops the rig and opens another process on the same folder. */
    async restart() {
      await stop();
      await house.close();
      house = await openHouse(config, options);
      running = true;
      await house.start();
      await house.resume();
    },
    create: (pipeline_id: string, task_description = "do it", more: Partial<RunCreate> = {}) =>
      house.services.runs.create({ pipeline_id, task_description, ...more }, LOCAL_ADMIN),
    /** Waits until the run has ended. @returns the run. */
    async waitForEnd(runId: string) {
      await event(({ kind, run_id }) => run_id === runId && RUN_ENDS.some((end) => end.kind === kind));
      return house.services.runs.views.one(runId, LOCAL_ADMIN);
    },
    steps: (runId: string) => house.services.runs.rows.stepsOf(runId),
    /** The number of model calls in the log. */
    calls: (): number => Number(house.core.store.sqlite.prepare("SELECT count(*) FROM llm_calls").pluck().get()),
    async close() {
      await stop();
      await house.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Rigs of a test file: `startRig` opens and starts one, `close` removes all. */
export function createRigs() {
  const rigs: Rig[] = [];
  const open = async (options: RigOptions): Promise<Rig> => {
    const rig = await openRig(options);
    rigs.push(rig);
    return rig;
  };
  return {
    open,
    async startRig(options: RigOptions): Promise<Rig> {
      const rig = await open(options);
      await rig.start();
      return rig;
    },
    async close(): Promise<void> {
      for (const rig of rigs.splice(0)) await rig.close();
    },
  };
}
