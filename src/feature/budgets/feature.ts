import { type Core, defineFeature } from "../feature.ts";
import type { Notifications } from "../notifications/service.ts";
import { sessionEnded } from "../sessions/events.ts";
import type { SettingsService } from "../settings/service.ts";
import type { Team } from "../team/feature.ts";
import { budgetEvents } from "./events.ts";
import { createOwnLimits } from "./own-limits.ts";
import { createBudgets } from "./service.ts";

/** Days for which notices are kept, so that the current month's notices are still there. */
const NOTICE_DAYS = 62;

type Needs = Core & {
  settings: Pick<SettingsService, "get">;
  notifications: Pick<Notifications, "notify">;
  team: Team;
};

export const budgets = defineFeature(
  "budgets",
  (deps: Needs) => {
    const { store, bus, settings, notifications, team } = deps;
    const service = createBudgets({
      ...deps,
      notify: notifications.notify,
      limits: () => settings.get().budgets,
      ownLimits: createOwnLimits(store, (agentId) => team.files.find(agentId)?.config),
    });
    const unsubscribe = bus.subscribe([sessionEnded], ({ session_id }) => session_id && service.release(session_id));
    return { service, prunes: [{ keep: NOTICE_DAYS, run: service.prune }], stop: unsubscribe };
  },
  budgetEvents,
);
