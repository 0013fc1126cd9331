import { kindOf } from "../../engine/kinds.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature, type ServiceOf } from "../feature.ts";
import type { memory } from "../memory/feature.ts";
import type { Sessions } from "../sessions/service.ts";
import { inboxEvents } from "./events.ts";
import { inboxRoutes } from "./routes.ts";
import { createInbox } from "./service.ts";
import { inboxTools } from "./tools.ts";

type Needs = Core & {
  agents: Pick<Agents, "exists">;
  sessions: Pick<Sessions, "rows">;
  memory: Pick<ServiceOf<typeof memory>, "hasReadOutside">;
};

const KEEP_DAYS = 90;

export const inbox = defineFeature(
  "inbox",
  ({ store, clock, base, agents, sessions, memory }: Needs) => {
    const service = createInbox({
      ...{ store, clock, agentExists: agents.exists, addNote: sessions.rows.addNote },
      takesMessages: ({ kind }) => kindOf(kind).tools.includes("team"),
    });
    return {
      service,
      routes: () => inboxRoutes(base, service),
      tools: inboxTools({ inbox: service, hasReadOutside: memory.hasReadOutside }),
      handOver: service.removeOf,
      prunes: [{ keep: KEEP_DAYS, run: service.prune }],
    };
  },
  inboxEvents,
);
