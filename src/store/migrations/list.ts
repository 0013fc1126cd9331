/** The migrations, in order, forward only. A new one is a file and a line here; what was released is never edited. */
import foundation from "./0001-foundation.sql" with { type: "text" };
import secrets from "./0002-secrets.sql" with { type: "text" };
import executions from "./0003-executions.sql" with { type: "text" };
import runs from "./0004-runs.sql" with { type: "text" };
import accounts from "./0010-accounts.sql" with { type: "text" };
import singleSignOn from "./0011-single-sign-on.sql" with { type: "text" };
import waitlist from "./0012-waitlist.sql" with { type: "text" };
import settings from "./0020-settings.sql" with { type: "text" };
import providers from "./0021-providers.sql" with { type: "text" };
import usage from "./0022-usage.sql" with { type: "text" };
import admin from "./0023-admin.sql" with { type: "text" };
import runBudgets from "./0024-run-budgets.sql" with { type: "text" };
import runBudgetsOfPipelines from "./0025-run-budgets-of-pipelines.sql" with { type: "text" };
import stepDeadlines from "./0026-step-deadlines.sql" with { type: "text" };
import projects from "./0030-projects.sql" with { type: "text" };
import toolOverrides from "./0031-tool-overrides.sql" with { type: "text" };
import knowledgeGraph from "./0060-knowledge-graph.sql" with { type: "text" };
import replacedSecrets from "./0061-replaced-secrets.sql" with { type: "text" };
import jobs from "./0100-jobs.sql" with { type: "text" };
import usageTotals from "./0101-usage-totals.sql" with { type: "text" };
import runTotals from "./0102-run-totals.sql" with { type: "text" };
import approvals from "./0103-approvals.sql" with { type: "text" };
import loginKeys from "./0110-login-keys.sql" with { type: "text" };
import sessions from "./0120-sessions.sql" with { type: "text" };
import callEstimates from "./0121-call-estimates.sql" with { type: "text" };
import waits from "./0121-waits.sql" with { type: "text" };
import attachments from "./0140-attachments.sql" with { type: "text" };
import documents from "./0150-documents.sql" with { type: "text" };
import attachmentText from "./0151-attachment-text.sql" with { type: "text" };
import memory from "./0160-memory.sql" with { type: "text" };
import sessionRecalls from "./0161-session-recalls.sql" with { type: "text" };
import contradictions from "./0162-contradictions.sql" with { type: "text" };
import memoryVectors from "./0163-memory-vectors.sql" with { type: "text" };
import recallsByEntry from "./0164-recalls-by-entry.sql" with { type: "text" };
import swarms from "./0180-swarms.sql" with { type: "text" };
import pulses from "./0185-pulses.sql" with { type: "text" };
import onboarding from "./0190-onboarding.sql" with { type: "text" };
import merging from "./0200-merging.sql" with { type: "text" };
import commands from "./0205-commands.sql" with { type: "text" };
import runComments from "./0206-run-comments.sql" with { type: "text" };
import tasks from "./0220-tasks.sql" with { type: "text" };
import mcp from "./0240-mcp.sql" with { type: "text" };
import mcpLogins from "./0241-mcp-logins.sql" with { type: "text" };
import cookies from "./0260-cookies.sql" with { type: "text" };
import voice from "./0261-voice.sql" with { type: "text" };
import codehost from "./0270-codehost.sql" with { type: "text" };
import notificationChannels from "./0280-notification-channels.sql" with { type: "text" };
import lifecycle from "./0290-lifecycle.sql" with { type: "text" };
import preferences from "./0300-preferences.sql" with { type: "text" };
import textSearch from "./0310-text-search.sql" with { type: "text" };
import runDefinitions from "./0311-run-definitions.sql" with { type: "text" };
import listIndexes from "./0312-list-indexes.sql" with { type: "text" };
import secretUse from "./0320-secret-use.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001-foundation", sql: foundation },
  { name: "0002-secrets", sql: secrets },
  { name: "0003-executions", sql: executions },
  { name: "0004-runs", sql: runs },
  { name: "0010-accounts", sql: accounts },
  { name: "0011-single-sign-on", sql: singleSignOn },
  { name: "0012-waitlist", sql: waitlist },
  { name: "0020-settings", sql: settings },
  { name: "0021-providers", sql: providers },
  { name: "0022-usage", sql: usage },
  { name: "0023-admin", sql: admin },
  { name: "0024-run-budgets", sql: runBudgets },
  { name: "0025-run-budgets-of-pipelines", sql: runBudgetsOfPipelines },
  { name: "0026-step-deadlines", sql: stepDeadlines },
  { name: "0030-projects", sql: projects },
  { name: "0031-tool-overrides", sql: toolOverrides },
  { name: "0060-knowledge-graph", sql: knowledgeGraph },
  { name: "0061-replaced-secrets", sql: replacedSecrets },
  { name: "0100-jobs", sql: jobs },
  { name: "0101-usage-totals", sql: usageTotals },
  { name: "0110-login-keys", sql: loginKeys },
  { name: "0120-sessions", sql: sessions },
  { name: "0121-call-estimates", sql: callEstimates },
  // After the tables that it counts in were rebuilt.
  { name: "0102-run-totals", sql: runTotals },
  { name: "0200-merging", sql: merging },
  { name: "0205-commands", sql: commands },
  { name: "0206-run-comments", sql: runComments },
  { name: "0160-memory", sql: memory },
  { name: "0121-waits", sql: waits },
  { name: "0220-tasks", sql: tasks },
  { name: "0140-attachments", sql: attachments },
  { name: "0240-mcp", sql: mcp },
  { name: "0241-mcp-logins", sql: mcpLogins },
  { name: "0260-cookies", sql: cookies },
  { name: "0261-voice", sql: voice },
  { name: "0270-codehost", sql: codehost },
  { name: "0290-lifecycle", sql: lifecycle },
  { name: "0150-documents", sql: documents },
  { name: "0151-attachment-text", sql: attachmentText },
  { name: "0180-swarms", sql: swarms },
  // After the index of the timeline that it makes again.
  { name: "0185-pulses", sql: pulses },
  { name: "0190-onboarding", sql: onboarding },
  { name: "0280-notification-channels", sql: notificationChannels },
  { name: "0161-session-recalls", sql: sessionRecalls },
  { name: "0162-contradictions", sql: contradictions },
  { name: "0163-memory-vectors", sql: memoryVectors },
  { name: "0300-preferences", sql: preferences },
  { name: "0164-recalls-by-entry", sql: recallsByEntry },
  { name: "0103-approvals", sql: approvals },
  { name: "0310-text-search", sql: textSearch },
  { name: "0311-run-definitions", sql: runDefinitions },
  { name: "0312-list-indexes", sql: listIndexes },
  { name: "0320-secret-use", sql: secretUse },
];
