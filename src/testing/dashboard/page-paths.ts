/** Addresses of the dashboard to look at: every page, with its views, over the data of `seed`. */
import type { Seeded } from "./seed.ts";

/** An address that no page has. */
export const MISSING = "/no-such-page";

export const pathsOf = (ids: Seeded): string[] => [
  ...[
    "/",
    "/inbox",
    "/inbox?tab=answered",
    "/runs",
    "/runs?status=failed&q=nightly",
    "/runs/new",
    `/runs/${ids.waiting}`,
    `/runs/${ids.failed}`,
  ],
  ...[`/runs/${ids.running}`, `/runs/${ids.succeeded}?tab=graph`, `/runs/${ids.succeeded}?tab=steps`],
  `/runs/${ids.succeeded}?tab=result`,
  ...["split", "unified"].map((view) => `/runs/${ids.changed}?tab=changes&view=${view}`),
  ...["/projects", `/projects/${ids.project}`],
  ...["symbols&q=total", "symbols&symbol=withTax", "map", "map&find=tax", "changes", "clusters", "flows", "ask"].map(
    (tab) => `/projects/${ids.project}/graph?tab=${tab}`,
  ),
  ...["/pipelines", "/pipelines/change", "/pipelines/+new", "/agents"],
  ...["prompt", "config", "tools", "runs", "secrets", "voice"].map((tab) => `/agents/engineer?tab=${tab}`),
  ...[
    "/skills",
    "/skills/debugging",
    "/usage",
    "/providers",
    "/providers?provider=anthropic",
    "/secrets",
    "/users",
    "/users?tab=sign-on&provider=%2Bnew",
  ],
  ...["models", "budgets", "limits", "sandbox", "retention", "backup", "updates"].map((tab) => `/settings?tab=${tab}`),
  ...["health", "backups", "disk", "containers", "audit", "requests"].map((tab) => `/system?tab=${tab}`),
  ...["/chat", "/chat?status=ended", "/chat?new=scribe", `/chat/${ids.chat}`],
  ...["/evals", "/board", `/projects/${ids.project}/tasks/${ids.task}`, `/projects/${ids.project}/policy`],
  `/projects/${ids.project}/members`,
  ...["/routines", "/routines?tab=calendar", "/routines?new=lead"],
  ...[`/routines/lead/${ids.routine}`, "/swarms", "/swarms?new=1", `/swarms/${ids.swarm}`],
  ...[
    "/documents",
    "/documents?q=quote",
    "/documents?new=1",
    "/documents?new=transcript",
    `/documents/${ids.document}`,
  ],
  ...["/tool-servers", "/tool-servers?new=1", "/tool-servers?new=import", "/tool-servers/odd"],
  ...[
    "/memory",
    "/memory?q=exports",
    "/memory/engineer",
    "/memory/engineer?tab=links",
    "/memory/engineer?tab=contradictions",
  ],
  ...["fact/exports-quote-every-name", "lesson/commas-are-forbidden"].map(
    (entry) => `/memory/engineer?entry=${encodeURIComponent(entry)}`,
  ),
  ...["/activity", "/activity?tab=now", "/activity?tab=handed", `/activity?tab=handed&work=${ids.handed}`],
  ...["/cookies", `/cookies?set=${ids.cookies}`, "/voice"],
  ...["/code-host", "/code-host?tab=rules", "/code-host?tab=rules&rule=new", "/code-host?tab=deliveries"],
  ...["/onboarding", "/onboarding?new=1", `/onboarding/${ids.onboarding}`],
  ...["/notifications", "/notifications?tab=notices", "/notifications?channel=new"],
  ...["/jobs", "/account", "/setup", "/join/skin_unknown", MISSING],
];
