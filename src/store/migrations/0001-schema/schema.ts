/** The schema of the first migration, one file per area as in `../../tables`, where the columns are documented. */
import accounts from "./accounts.sql" with { type: "text" };
import admin from "./admin.sql" with { type: "text" };
import agents from "./agents.sql" with { type: "text" };
import attachments from "./attachments.sql" with { type: "text" };
import codehost from "./codehost.sql" with { type: "text" };
import cookies from "./cookies.sql" with { type: "text" };
import documents from "./documents.sql" with { type: "text" };
import foundation from "./foundation.sql" with { type: "text" };
import inbox from "./inbox.sql" with { type: "text" };
import jobs from "./jobs.sql" with { type: "text" };
import mcp from "./mcp.sql" with { type: "text" };
import memory from "./memory.sql" with { type: "text" };
import notificationChannels from "./notification-channels.sql" with { type: "text" };
import onboarding from "./onboarding.sql" with { type: "text" };
import preferences from "./preferences.sql" with { type: "text" };
import projects from "./projects.sql" with { type: "text" };
import providers from "./providers.sql" with { type: "text" };
import pulses from "./pulses.sql" with { type: "text" };
import reviews from "./reviews.sql" with { type: "text" };
import runs from "./runs.sql" with { type: "text" };
import secrets from "./secrets.sql" with { type: "text" };
import sessions from "./sessions.sql" with { type: "text" };
import settings from "./settings.sql" with { type: "text" };
import swarms from "./swarms.sql" with { type: "text" };
import tasks from "./tasks.sql" with { type: "text" };
import usage from "./usage.sql" with { type: "text" };
import voice from "./voice.sql" with { type: "text" };

/** In the order of their references. */
export const SCHEMA = [
  foundation,
  settings,
  accounts,
  preferences,
  secrets,
  admin,
  jobs,
  providers,
  usage,
  agents,
  projects,
  sessions,
  runs,
  reviews,
  tasks,
  attachments,
  documents,
  memory,
  swarms,
  inbox,
  pulses,
  onboarding,
  mcp,
  cookies,
  voice,
  codehost,
  notificationChannels,
].join("\n");
