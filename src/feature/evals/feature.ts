import { SCRIPTED_MODEL } from "../../adapter/model/scripted.ts";
import { notFound } from "../../core/errors.ts";
import { AGENT_DEFAULTS } from "../../engine/agent-file.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { projects } from "../projects/feature.ts";
import type { providers } from "../providers/feature.ts";
import { RUN_ENDS } from "../runs/events.ts";
import type { RunsService } from "../runs/service.ts";
import type { SettingsService } from "../settings/service.ts";
import type { StorageService } from "../storage/service.ts";
import { createDriver } from "./driver.ts";
import { evalEvents } from "./events.ts";
import { createTaskOfRun } from "./from-run.ts";
import { createRecordings } from "./recording.ts";
import { evalRoutes } from "./routes.ts";
import { createEvals } from "./service.ts";
import { createAttemptStore } from "./store.ts";

/** How often attempts are tried again that could not start, for example because there were too many runs. */
const LOOK_MS = 15_000;

type Needs = Core & {
  agents: Pick<Agents, "ready">;
  projects: Pick<ServiceOf<typeof projects>, "byName" | "find" | "branches">;
  providers: Pick<ServiceOf<typeof providers>, "wrongModel">;
  runs: RunsService;
  settings: Pick<SettingsService, "get">;
  storage: Pick<StorageService, "assertRoom">;
};

export const evals = defineFeature(
  "evals",
  (deps: Needs) => {
    const { store, bus, config, settings, storage, agents, projects, providers, runs } = deps;
    const attempts = createAttemptStore(store);
    const driver = createDriver({ ...deps, attempts, replayModel: SCRIPTED_MODEL });
    const service = createEvals({
      ...deps,
      driver,
      attempts,
      wrongModel: providers.wrongModel,
      recordingOf: createRecordings(store, runs.rows),
      assertStored: storage.assertRoom,
      harnessOf: (id) => agents.ready(id).agent.config.harness ?? AGENT_DEFAULTS.harness,
      roomOf(id) {
        if (config.sandbox === "process") return null;
        const { cpus, memory_mb } = settings.get().sandbox;
        const own = id === undefined ? {} : agents.ready(id).agent.config;
        return { cpus: own.cpus ?? cpus, memory_mb: own.memory_mb ?? memory_mb };
      },
      seesRun(runId, caller) {
        const row = runs.rows.run(runId);
        return row === undefined || mayRead(caller, WHOSE.runs, row);
      },
      assertProject(name, caller) {
        if (!projects.byName(name, caller)) throw notFound("project");
      },
    });
    const taskOfRun = createTaskOfRun({
      runs,
      branches: projects.branches,
      checkOf: (id) => projects.find(id)?.check ?? null,
    });
    const unsubscribe = bus.subscribe(RUN_ENDS, ({ run_id }) => {
      if (run_id) driver.runEnded(run_id);
    });
    return {
      service,
      routes: () => evalRoutes(service, taskOfRun),
      duties: [{ name: "evals", everyMs: LOOK_MS, run: driver.advanceAll }],
      handOver: service.handOver,
      resume: async () => driver.advanceAll(),
      stop: unsubscribe,
    };
  },
  evalEvents,
);
