/** Every feature of the product, one line each. A feature may use those above it. */

import { activation } from "../feature/activation/feature.ts";
import { admin } from "../feature/admin/feature.ts";
import { agents } from "../feature/agents/feature.ts";
import { attachments } from "../feature/attachments/feature.ts";
import { audit } from "../feature/audit/feature.ts";
import { accounts, auth } from "../feature/auth/feature.ts";
import { backups } from "../feature/backups/feature.ts";
import { budgets } from "../feature/budgets/feature.ts";
import { channels } from "../feature/channels/feature.ts";
import { chat } from "../feature/chat/feature.ts";
import { codehost, codehostConnection } from "../feature/codehost/feature.ts";
import { cookies } from "../feature/cookies/feature.ts";
import { dashboard } from "../feature/dashboard/feature.ts";
import { docs } from "../feature/docs/feature.ts";
import { doctor } from "../feature/doctor/feature.ts";
import { documents } from "../feature/documents/feature.ts";
import { egress } from "../feature/egress/feature.ts";
import { engine } from "../feature/engine/feature.ts";
import { environmentCaches } from "../feature/environment-caches/feature.ts";
import { environmentServices } from "../feature/environment-services/feature.ts";
import { environments } from "../feature/environments/feature.ts";
import { evals } from "../feature/evals/feature.ts";
import { events } from "../feature/events/feature.ts";
import { harnessLogins } from "../feature/harness-logins/feature.ts";
import { history } from "../feature/history/feature.ts";
import { hosts } from "../feature/hosts/feature.ts";
import { inbox } from "../feature/inbox/feature.ts";
import { invitations } from "../feature/invitations/feature.ts";
import { jobs } from "../feature/jobs/feature.ts";
import { knowledgeGraph } from "../feature/knowledge-graph/feature.ts";
import { lifecycle } from "../feature/lifecycle/feature.ts";
import { mcp } from "../feature/mcp/feature.ts";
import { mcpServer } from "../feature/mcp-server/feature.ts";
import { members } from "../feature/members/feature.ts";
import { memory } from "../feature/memory/feature.ts";
import { messengers } from "../feature/messengers/feature.ts";
import { monitor } from "../feature/monitor/feature.ts";
import { notifications } from "../feature/notifications/feature.ts";
import { oidc } from "../feature/oidc/feature.ts";
import { onboarding } from "../feature/onboarding/feature.ts";
import { permissions } from "../feature/permissions/feature.ts";
import { pipelines } from "../feature/pipelines/feature.ts";
import { preferences } from "../feature/preferences/feature.ts";
import { previews } from "../feature/previews/feature.ts";
import { projectArchive } from "../feature/project-archive/feature.ts";
import { projects } from "../feature/projects/feature.ts";
import { providers } from "../feature/providers/feature.ts";
import { pulse } from "../feature/pulse/feature.ts";
import { reviews } from "../feature/reviews/feature.ts";
import { runs } from "../feature/runs/feature.ts";
import { search } from "../feature/search/feature.ts";
import { secrets } from "../feature/secrets/feature.ts";
import { sessions } from "../feature/sessions/feature.ts";
import { settings } from "../feature/settings/feature.ts";
import { setups } from "../feature/setups/feature.ts";
import { skills } from "../feature/skills/feature.ts";
import { spawn } from "../feature/spawn/feature.ts";
import { status } from "../feature/status/feature.ts";
import { storage } from "../feature/storage/feature.ts";
import { swarm } from "../feature/swarm/feature.ts";
import { tasks } from "../feature/tasks/feature.ts";
import { team } from "../feature/team/feature.ts";
import { telemetry } from "../feature/telemetry/feature.ts";
import { transcripts } from "../feature/transcripts/feature.ts";
import { updates } from "../feature/updates/feature.ts";
import { usage } from "../feature/usage/feature.ts";
import { users } from "../feature/users/feature.ts";
import { voice } from "../feature/voice/feature.ts";
import { waitlist } from "../feature/waitlist/feature.ts";
import { type FeatureList, noFeatures } from "./compose.ts";

export const FEATURES = noFeatures()
  .with(settings)
  .with(telemetry)
  .with(jobs)
  .with(storage)
  .with(notifications)
  .with(accounts)
  .with(members)
  .with(invitations)
  .with(oidc)
  .with(auth)
  .with(users)
  .with(preferences)
  .with(waitlist)
  .with(audit)
  .with(providers)
  .with(team)
  .with(skills)
  .with(pipelines)
  .with(codehostConnection)
  .with(projects)
  .with(environments)
  .with(environmentCaches)
  .with(knowledgeGraph)
  .with(agents)
  .with(secrets)
  .with(cookies)
  .with(harnessLogins)
  .with(budgets)
  .with(usage)
  .with(sessions)
  .with(permissions)
  .with(attachments)
  .with(history)
  .with(voice)
  .with(documents)
  .with(chat)
  .with(lifecycle)
  .with(runs)
  .with(transcripts)
  .with(messengers)
  .with(channels)
  .with(tasks)
  .with(projectArchive)
  .with(onboarding)
  .with(reviews)
  .with(codehost)
  .with(evals)
  .with(spawn)
  .with(pulse)
  .with(memory)
  .with(inbox)
  .with(swarm)
  .with(egress)
  .with(previews)
  .with(environmentServices)
  .with(setups)
  .with(mcp)
  .with(mcpServer)
  .with(engine)
  .with(hosts)
  .with(events)
  .with(admin)
  .with(backups)
  .with(updates)
  .with(activation)
  .with(status)
  .with(monitor)
  .with(doctor)
  .with(search)
  .with(dashboard)
  .with(docs);

/** Services of the product's features; any list of features for the product provides at least these. */
export type ProductServices = typeof FEATURES extends FeatureList<infer Services, infer _> ? Services : never;
