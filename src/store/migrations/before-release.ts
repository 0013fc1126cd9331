/**
 * The steps by which builds from before the first release created the schema of `0001-schema`. A database with all of
 * these has that schema. They are listed by name, because numbers of later migrations lie between theirs.
 */
export const STEPS_BEFORE_RELEASE: readonly string[] = `
  0001-foundation 0002-secrets 0003-executions 0004-runs 0010-accounts 0011-single-sign-on 0012-waitlist 0020-settings
  0021-providers 0022-usage 0023-admin 0024-run-budgets 0025-run-budgets-of-pipelines 0026-step-deadlines
  0030-projects 0031-tool-overrides 0060-knowledge-graph 0061-replaced-secrets 0100-jobs 0101-usage-totals
  0110-login-keys 0120-sessions 0121-call-estimates 0102-run-totals 0200-merging 0205-commands 0206-run-comments
  0160-memory 0121-waits 0220-tasks 0140-attachments 0240-mcp 0241-mcp-logins 0260-cookies 0261-voice 0270-codehost
  0290-lifecycle 0150-documents 0151-attachment-text 0180-swarms 0185-pulses 0190-onboarding
  0280-notification-channels 0161-session-recalls 0162-contradictions 0163-memory-vectors 0300-preferences
  0164-recalls-by-entry 0103-approvals 0310-text-search 0311-run-definitions 0312-list-indexes 0320-secret-use
`
  .trim()
  .split(/\s+/);
