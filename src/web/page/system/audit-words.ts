/** Words the audit log's entries as sentences: who did what to which object. */

import { pluralize } from "../../ui/format.ts";

/** `{it}` is replaced by the object's name. A sentence without `{it}` mentions only the actor. */
const SENTENCES: Record<string, string> = {
  "login.succeeded": "logged in",
  "login.failed": "failed to log in",
  "sign_on.failed": "failed to sign on with {it}",
  "refresh.reused": "used a log-in token a second time; its session was ended",
  "session.revoked": "ended a session",
  "setup.done": "set up the server",
  "second_factor.enabled": "switched on a second factor",
  "second_factor.disabled": "switched off the second factor",
  "second_factor.failed": "gave a wrong second factor",
  "second_factor.used": "logged in with a second factor",
  "identity.linked": "linked a sign-on to {it}",
  "user.created": "added the user {it}",
  "user.updated": "changed the user {it}",
  "user.deleted": "deleted the user {it}",
  "user.made_admin": "made {it} an administrator",
  "user.password_reset": "set a new password for {it}",
  "user.role_from_claim": "was given a role by the sign-on provider",
  "api_key.created": "made the API key {it}",
  "api_key.revoked": "revoked the API key {it}",
  "oidc_provider.created": "added the sign-on provider {it}",
  "oidc_provider.updated": "changed the sign-on provider {it}",
  "oidc_provider.deleted": "deleted the sign-on provider {it}",
  "settings.updated": "changed the settings",
  "instance.activated": "activated this server",
  "host.drained": "drained the host {it}",
  "host.enabled": "enabled the host {it}",
  "backup.started": "started a backup",
  "backup.downloaded": "downloaded a backup",
  "backup.deleted": "deleted a backup",
  "job.cancelled": "cancelled background work",
  "provider.updated": "changed the model provider {it}",
  "provider.removed": "removed the model provider {it}",
  "provider.keys_read": "read the keys of model providers",
  "harness_login.set": "stored their own log-in of {it}",
  "harness_login.removed": "removed their own log-in of {it}",
  "harness_login.read": "read a person's log-in of {it} for their work",
  "user_provider_key.set": "set a key of their own for {it}",
  "user_provider_key.removed": "removed their own key for {it}",
  "secret.created": "added the secret {it}",
  "secret.updated": "changed the secret {it}",
  "secret.deleted": "deleted the secret {it}",
  "secret.granted": "granted the secret {it}",
  "secret.revoked": "revoked the secret {it}",
  "secret.value_read": "read the value of the secret {it}",
  "cookies.created": "added the cookies {it}",
  "cookies.deleted": "deleted the cookies {it}",
  "cookies.granted": "granted the cookies {it}",
  "cookies.revoked": "revoked the cookies {it}",
  "agent.created": "added the agent {it}",
  "agent.configured": "configured the agent {it}",
  "agent.updated": "changed the agent {it}",
  "agent.deleted": "deleted the agent {it}",
  "agent.status_set": "switched the agent {it} on or off",
  "agent.tools_set": "changed the tools of the agent {it}",
  "agent.voice_updated": "changed the voice of {it}",
  "pipeline.created": "added the pipeline {it}",
  "pipeline.updated": "changed the pipeline {it}",
  "pipeline.deleted": "deleted the pipeline {it}",
  "mcp_server.created": "added the tool server {it}",
  "mcp_server.updated": "changed the tool server {it}",
  "mcp_server.deleted": "deleted the tool server {it}",
  "mcp_server.tools_approved": "approved the tools of the tool server {it}",
  "mcp_server.authorized": "logged the tool server {it} in",
  "mcp_server.authorization_forgotten": "logged the tool server {it} out",
  "mcp_server.config_read": "read the configuration of tool servers",
  "notification_channel.created": "added the notification channel {it}",
  "notification_channel.changed": "changed the notification channel {it}",
  "notification_channel.deleted": "deleted the notification channel {it}",
  "notification_channel.code": "made a code for the notification channel {it}",
  "messenger.created": "connected the messenger {it}",
  "messenger.changed": "changed the messenger {it}",
  "messenger.deleted": "deleted the messenger {it}",
  "phone_link.made": "linked a chat to the notification channel {it}",
  "phone_link.refused": "sent a wrong code to link a chat",
  "phone_answer.given": "answered {it} in a notification",
  "phone_command.given": "started or stopped {it} from a chat",
  "phone_answer.refused": "pressed a button that does nothing",
  "codehost_rule.created": "added the code host rule {it}",
  "codehost_rule.updated": "changed the code host rule {it}",
  "codehost_rule.deleted": "deleted the code host rule {it}",
  "project.exported": "exported the project {it}",
  "project.imported": "imported the project {it}",
  "project.deleted": "deleted the project {it}",
  "permission.revoke": "took back a permission",
  "history.deleted": "deleted history",
  "run.cancelled": "cancelled the run {it}",
  "run.sent_back": "sent the run {it} back",
  "run.merged": "merged the run {it}",
  "run.pushed": "pushed the branch of the run {it}",
  "run.pull_request": "opened a pull request for the run {it}",
};

interface Entry {
  action: string;
  data: Record<string, unknown>;
}

const toText = (value: unknown): string => (typeof value === "string" ? value : "");
const formatList = (value: unknown): string =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string").join(", ") : "";

/** The text before and after the object's name. A null after it means that the sentence does not mention the object. */
export function sentenceOf({ action, data }: Entry): [before: string, behind: string | null] {
  if (action === "run.approval") {
    const verb = data["approved"] === false ? "refused" : "approved";
    return [`${verb} step ${toText(data["step_name"]) || toText(data["step_id"])} of the run `, ""];
  }
  // An agent began its work: say whether it was given any.
  if (action === "secret.env_read" || action === "cookies.read")
    return [
      `was given ${formatList(data["names"]) === "" ? "no " : ""}${action === "cookies.read" ? "cookies" : "secrets"}`,
      null,
    ];
  if (action === "permission.answer")
    return [`${data["allow"] === false ? "refused" : "allowed"} a call of ${toText(data["tool"])}`, null];
  const sentence = SENTENCES[action];
  // A kind of entry that this page does not know yet: use its own words.
  if (sentence === undefined) return [`${action.replaceAll(/[._]/g, " ")}: `, ""];
  const [before = "", behind] = sentence.split("{it}");
  return [before, behind ?? null];
}

const formatCount = (value: unknown, what: string): string =>
  typeof value === "number" && value > 0 ? pluralize(value, what) : "";

/** Names of fields as words: `limits.max_turns` is "limits: max turns". */
const wordsOf = (fields: string): string => fields.replaceAll(".", ": ").replaceAll("_", " ");

/**
 * Further details: for whom, which parts, into what; empty if there are none. @param nameOf returns an agent's name.
 */
export function detailOf({ action, data }: Entry, nameOf: (id: string) => string): string {
  if (action === "secret.env_read" || action === "cookies.read") return formatList(data["names"]);
  const to = toText(data["agent_id"]) || toText(data["agent"]);
  return [
    to && `agent ${nameOf(to)}`,
    wordsOf(formatList(data["changed"]) || formatList(data["fields"])),
    toText(data["into"]) && `into ${toText(data["into"])}`,
    formatList(data["scopes"]) && `scopes ${formatList(data["scopes"])}`,
    toText(data["provider"]) && `provider ${toText(data["provider"])}`,
    formatCount(data["runs"], "run"),
    formatCount(data["sessions"], "session"),
    toText(data["rule"]),
    toText(data["why"]),
    toText(data["how"]),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Groups of entries for the filter. */
export const GROUPS: { value: string; label: string }[] = [
  { value: "", label: "Everything" },
  { value: "login", label: "Log-ins" },
  { value: "user", label: "Users" },
  { value: "api_key", label: "API keys" },
  { value: "secret", label: "Secrets" },
  { value: "cookies", label: "Cookies" },
  { value: "settings", label: "Settings" },
  { value: "provider", label: "Model providers" },
  { value: "mcp_server", label: "Tool servers" },
  { value: "agent", label: "Agents" },
  { value: "pipeline", label: "Pipelines" },
  { value: "run", label: "Runs" },
  { value: "project", label: "Projects" },
  { value: "backup", label: "Backups" },
  { value: "host", label: "Hosts" },
];
