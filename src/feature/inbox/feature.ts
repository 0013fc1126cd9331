import { kindOf } from "../../engine/kinds.ts";
import type { Agents } from "../agents/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Sessions } from "../sessions/service.ts";
import { inboxEvents } from "./events.ts";
import { inboxRoutes } from "./routes.ts";
import { createInbox } from "./service.ts";
import { inboxTools } from "./tools.ts";

type Needs = Core & {
  agents: Pick<Agents, "exists">;
  sessions: Pick<Sessions, "rows" | "outside">;
};

const KEEP_DAYS = 90;

export const inbox = defineFeature(
  "inbox",
  (deps: Needs) => {
    const { agents, sessions } = deps;
    const service = createInbox({
      ...deps,
      agentExists: agents.exists,
      addNote: sessions.rows.addNote,
      markOutside: sessions.outside.mark,
      takesMessages: ({ kind }) => kindOf(kind).tools.includes("team"),
    });
    return {
      service,
      routes: () => inboxRoutes(service),
      tools: inboxTools(service),
      handOver: service.removeOf,
      prunes: [{ keep: KEEP_DAYS, run: service.prune }],
    };
  },
  inboxEvents,
);
