/** What agents do besides runs, for the pages of the dashboard: routines, swarms. */
import { done } from "./script.ts";
import type { Send } from "./seed.ts";

export interface Systems {
  /** A routine of the agent `lead` that has worked once. */
  routine: string;
  /** A swarm whose tasks have all been done. */
  swarm: string;
}

/** Turns of agents that only these systems use. */
export const SYSTEMS_SCRIPT = {
  agents: {
    architect: [{ text: `I think about it${", and think".repeat(200)}.`, delay_ms: 600_000, chunk: 8 }],
    lead: [done({}, "One task waits for a person: nobody has said which separator the export takes.")],
  },
};

export async function furnishSystems(send: Send): Promise<Systems> {
  await send("PUT", "/v1/agents/lead/config", { pulse_enabled: true });
  const routines = "/v1/pulse-routines/lead";
  const routine = await send("POST", routines, {
    ...{ name: "Morning round", schedule: "0 9 * * mon-fri", timezone: "Europe/Berlin", project_id: null },
    instructions: "Look at your open tasks. Say which of them wait for a person, and for what.",
    blackouts: [{ start: "00:00", end: "06:00" }],
  });
  await send("POST", routines, {
    name: "Looks every half hour whether somebody has written, and answers what it can by itself",
    ...{ schedule: { every_minutes: 30 }, instructions: "Answer what others wrote to you." },
  });
  const tick = await send("POST", `${routines}/${routine.id}/trigger`);
  const swarm = await send("POST", "/v1/swarm/execute", {
    agent_id: "researcher",
    tasks: [
      { key: "routes", prompt: "List every HTTP route of this service with its file." },
      { key: "tests", prompt: "List which routes have no test.", depends_on: ["routes"] },
      { key: "prices", title: "Where prices are computed", prompt: "Find every place that computes a price." },
      {
        ...{ key: "report", agent_id: "scribe", title: "One page for a newcomer" },
        ...{ prompt: "Write one page about it.", depends_on: ["tests", "prices"] },
      },
    ],
  });
  const until = async (path: string) => {
    while ((await send<{ finished_at: string | null }>("GET", path)).finished_at === null) await Bun.sleep(50);
  };
  await until(`${routines}/${routine.id}/ticks/${tick.id}`);
  await until(`/v1/swarm/${swarm.id}`);
  return { routine: routine.id, swarm: swarm.id };
}
