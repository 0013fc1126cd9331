/** Every resource that gets commands from `resourceCommands`. */
import { agents } from "./agents.ts";
import { approvals, permissions } from "./approvals.ts";
import { chats } from "./chats.ts";
import { codehost } from "./codehost.ts";
import { cookies } from "./cookies.ts";
import { documents } from "./documents.ts";
import { evals } from "./evals.ts";
import { executions } from "./executions.ts";
import { harnessLogins } from "./harness-logins.ts";
import { hosts } from "./hosts.ts";
import { jobs } from "./jobs.ts";
import { keys } from "./keys.ts";
import { memory } from "./memory.ts";
import { messengers } from "./messengers.ts";
import { models } from "./models.ts";
import { notifications } from "./notifications.ts";
import { pipelines } from "./pipelines.ts";
import { projects } from "./projects.ts";
import { providers } from "./providers.ts";
import type { AnyResource } from "./resource.ts";
import { routines } from "./routines.ts";
import { secrets } from "./secrets.ts";
import { skills } from "./skills.ts";
import { sso } from "./sso.ts";
import { swarm } from "./swarm.ts";
import { tasks } from "./tasks.ts";
import { users } from "./users.ts";
import { voice } from "./voice.ts";

export const RESOURCES: readonly AnyResource[] = [
  chats,
  projects,
  tasks,
  pipelines,
  agents,
  approvals,
  permissions,
  skills,
  secrets,
  cookies,
  providers,
  harnessLogins,
  models,
  codehost,
  jobs,
  hosts,
  executions,
  documents,
  memory,
  swarm,
  evals,
  routines,
  notifications,
  messengers,
  voice,
  keys,
  users,
  sso,
];
