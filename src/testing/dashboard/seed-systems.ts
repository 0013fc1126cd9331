/** Work of agents besides runs, for the dashboard's pages: routines, swarms, documents, and a tool server (`odd`). */
import { BUILTIN_SCRIPT } from "../../adapter/model/builtin-script.ts";
import { BUN, ODD_SERVER } from "../mcp/image.ts";
import { complete, say } from "./script.ts";
import type { Send } from "./seed.ts";

/** Checks again and again until the condition holds. */
async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(50);
}

export interface Systems {
  /** A routine of the agent `lead` that has run once. */
  routine: string;
  /** A swarm whose tasks are all done. */
  swarm: string;
  /** A document with nested sections. */
  document: string;
  /** An onboarding in its third phase. */
  onboarding: string;
}

/** A turn that lasts until it is stopped. */
const ENDLESS = { text: `I think about it${", and think".repeat(200)}.`, delay_ms: 600_000, chunk: 8 };
const LAST = { text: "That is all I know of {{ last_user }}" };

/** Turns of agents that only these systems use, and of their chats. */
export const SYSTEMS_SCRIPT = {
  chats: {
    ...BUILTIN_SCRIPT.chats,
    engineer: [ENDLESS, LAST],
    reviewer: [
      {
        text: `It takes a while: ${"one, two, three, four, five. ".repeat(60)}That was all.`,
        delay_ms: 9_000,
        chunk: 6,
      },
      LAST,
    ],
  },
  agents: {
    tester: [say("I use it.", "odd__change", {}), complete({}, "Used.")],
    architect: [ENDLESS],
    lead: [complete({}, "One task waits for a person: nobody has said which separator the export takes.")],
  },
};

const MANUAL = `# Manual of the shop

Who works with it day by day finds here what to do.

## Exports

Reports leave as CSV.

### Quoting

Quote a name where it holds a comma, a quote or a line break:

| name | written |
|---|---|
| Smith | Smith |
| Smith, Jane | "Smith, Jane" |

## Prices

A discount is taken off before the tax.
`;

export async function furnishSystems(send: Send): Promise<Systems> {
  await send("PUT", "/v1/agents/lead/config", { pulse_enabled: true });
  const routines = "/v1/pulse-routines/lead";
  const routine = await send("POST", routines, {
    name: "Morning round",
    schedule: "0 9 * * mon-fri",
    timezone: "Europe/Berlin",
    project_id: null,
    instructions: "Look at your open tasks. Say which of them wait for a person, and for what.",
    blackouts: [{ start: "00:00", end: "06:00" }],
  });
  await send("POST", routines, {
    name: "Looks every half hour whether somebody has written, and answers what it can by itself",
    schedule: { every_minutes: 30 },
    instructions: "Answer what others wrote to you.",
  });
  const tick = await send("POST", `${routines}/${routine.id}/trigger`);
  const swarm = await send("POST", "/v1/swarm/execute", {
    agent_id: "researcher",
    tasks: [
      { key: "routes", prompt: "List every HTTP route of this service with its file." },
      { key: "tests", prompt: "List which routes have no test.", depends_on: ["routes"] },
      { key: "prices", title: "Where prices are computed", prompt: "Find every place that computes a price." },
      {
        key: "report",
        agent_id: "scribe",
        title: "One page for a newcomer",
        prompt: "Write one page about it.",
        depends_on: ["tests", "prices"],
      },
    ],
  });
  const document = await send("POST", "/v1/ingest/document", { content: MANUAL, media_type: "text/markdown" });
  await send("POST", "/v1/agents", { id: "tester", name: "Tester", prompt: "You try tools." });
  await send("POST", "/v1/mcp", { id: "odd", transport: "stdio", command: BUN, args: [ODD_SERVER], agents: ["*"] });
  const onboarding = await send("POST", "/v1/onboarding/sessions", {});
  for (const message of ["Bird feeder", "Nobody knows which birds come to the garden, and when"])
    await send("POST", `/v1/onboarding/sessions/${onboarding.id}/message?stream=true`, { message });
  const until = (path: string) =>
    waitUntil(async () => (await send<{ finished_at: string | null }>("GET", path)).finished_at !== null);
  await until(`${routines}/${routine.id}/ticks/${tick.id}`);
  await until(`/v1/swarm/${swarm.id}`);
  await waitUntil(async () => {
    const { status } = await send<{ status: string }>("GET", `/v1/documents/${document.id}`);
    return status !== "processing";
  });
  await waitUntil(async () => (await send<{ status: string }>("GET", "/v1/mcp/odd")).status === "running");
  return { onboarding: onboarding.id, document: document.id, routine: routine.id, swarm: swarm.id };
}
