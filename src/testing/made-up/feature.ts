/**
 * A complete example feature as anybody would add it: a route, a job, a tool, an event, and what every feature needs.
 */
import { Type as t } from "@sinclair/typebox";
import { defineJob } from "../../core/jobs.ts";
import { type Tool, toolsOf } from "../../engine/tool.ts";
import type { Agents } from "../../feature/agents/service.ts";
import { pass } from "../../feature/doctor/model.ts";
import { type Core, defineFeature } from "../../feature/feature.ts";
import type { Jobs } from "../../feature/jobs/service.ts";
import { bellEvents, bellRung } from "./events.ts";
import { bellRoutes } from "./routes.ts";

type Needs = Core & { jobs: Pick<Jobs, "enqueue">; agents: Pick<Agents, "exists"> };

/** A record for the test to check. */
export interface BellDiary {
  calls: string[];
  owners: string[];
}

export const createBells = (diary: BellDiary) =>
  defineFeature(
    "bells",
    ({ store, jobs, agents }: Needs) => {
      let rung = 0;
      const ring = (times: number): number => {
        store.write(({ emit }) => emit(bellRung, { data: { times } }));
        rung += times;
        return rung;
      };
      const job = defineJob("ring", t.Object({ times: t.Integer() }), async ({ times }) => ({ rung: ring(times) }));
      const tool: Tool<{ times: number }> = {
        name: "ring_bell",
        group: "team",
        description: "Rings the bell.",
        parameters: t.Object({ times: t.Integer() }),
        timeoutMs: 60_000,
        run: async ({ times }, { execution }) => {
          if (!agents.exists(execution.agentId)) throw new Error("an agent that does not exist");
          return { ok: true, output: `rung ${ring(times)} times` };
        },
      };
      const createRecorder = (what: string) => () => void diary.calls.push(what);
      return {
        service: { countRings: () => rung },
        routes: () => bellRoutes((times, { userId }) => jobs.enqueue(job, { times }, { userId })),
        jobs: [job],
        tools: toolsOf("bells", [tool]),
        counts: () => ({ bells_rung: rung }),
        checks: () => [pass("bells", "The bell hangs.")],
        handOver: (from, to) => void diary.owners.push(`${from} → ${to}`),
        prunes: [{ keep: 1, run: createRecorder("pruned") }],
        start: createRecorder("start"),
        stop: createRecorder("stop"),
        close: createRecorder("close"),
      };
    },
    bellEvents,
  );
