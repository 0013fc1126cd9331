import type { Auth } from "../auth/service.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { Members } from "../members/service.ts";
import { invitationEvents } from "./events.ts";
import { invitationRoutes } from "./routes.ts";
import { createInvitations } from "./service.ts";

type Needs = Core & { accounts: Pick<Auth, "tryInvitation">; members: Pick<Members, "put"> };

/** How long an invitation that is over stays listed and its holder is told why it is over, in days. */
const KEEP_DAYS = 30;

export const invitations = defineFeature(
  "invitations",
  (deps: Needs) => {
    const service = createInvitations({
      ...deps,
      putMember: deps.members.put,
      beginTry: deps.accounts.tryInvitation,
    });
    return {
      service,
      routes: () => invitationRoutes(service),
      prunes: [{ keep: KEEP_DAYS, run: service.prune }],
      handOver: service.handOver,
    };
  },
  invitationEvents,
);
