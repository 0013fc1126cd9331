import { DAY_MS, HOUR_MS } from "./clock.ts";

/** All limits of the server, each named with its unit. `skep doctor` prints them. */
export const LIMITS = {
  bodyBytes: 1024 * 1024,
  /** Size of an eval: its tasks with their files, and recorded replies. */
  evalBytes: 16 * 1024 * 1024,
  publicBodyBytes: 16 * 1024,
  webhookBytes: 4 * 1024 * 1024,
  webhooksBytes: 32 * 1024 * 1024,
  webhooksOfAddressBytes: 8 * 1024 * 1024,
  uploadBytes: 50 * 1024 * 1024,
  bodySilenceMs: 15_000,
  bodyMs: 60_000,
  uploadMs: 600_000,
  bodiesBytes: 192 * 1024 * 1024,
  bodiesOfAddressBytes: 96 * 1024 * 1024,
  uploadsBytes: 1024 ** 3,
  uploadsOfAddressBytes: 512 * 1024 * 1024,
  strangersBytes: 8 * 1024 * 1024,
  strangersOfAddressBytes: 1024 * 1024,
  refusedBodyMs: 5_000,
  keepAliveMs: 75_000,
  secretValueBytes: 64 * 1024,
  /** Agents that a person may name for one log-in of an external agent. */
  ownLoginAgents: 200,
  nameCharacters: 256,
  textCharacters: 200_000,
  listDefault: 50,
  projectMembers: 1_000,
  projectInvitations: 100,
  invitationDays: 30,
  invitationUses: 100,
  invitationTokenCharacters: 128,
  listMax: 200,
  /** Limits of a project's setup: its time, what it writes, and its log. */
  setUpMs: 30 * 60_000,
  setUpBytes: 8 * 1024 ** 3,
  setUpLogBytes: 64 * 1024,
  /** All layers that setups left, and how many days an unused layer stays. */
  setUpLayersBytes: 32 * 1024 ** 3,
  setUpLayerDays: 30,
  checkMs: 30 * 60_000,
  /** What a run's service may write outside its memory. */
  serviceBytes: 4 * 1024 ** 3,
  /** What the sandboxes of one person and project keep of their homes. Beyond either limit it is removed. */
  cacheBytes: 4 * 1024 ** 3,
  cacheDays: 30,
  /** Limits for the project's files that are copied for its setup. */
  sourceBytes: 4 * 1024 ** 3,
  sourceFiles: 200_000,
  idempotencyKeepMs: DAY_MS,
  idempotencyKeyCharacters: 255,
  requestIdCharacters: 128,
  drainMs: 10_000,
  diskLowBytes: 2 * 1024 ** 3,
  diskLittleBytes: 256 * 1024 ** 2,
  eventKeepRows: 500_000,
  /**
   * Old rows that are removed at once. That takes a few milliseconds, even for model calls, whose table has the most
   * indexes.
   */
  pruneRows: 200,
  /** Nesting depth of lists and objects in JSON from outside. */
  jsonLevels: 200,
  /** Members of all lists and objects together in JSON from outside. */
  jsonValues: 100_000,
  /** One event that a model's provider sends, and an answer that is not a stream. */
  providerEventBytes: 8 * 1024 * 1024,
  providerAnswerBytes: 16 * 1024 * 1024,
  /** Numbers in one answer of an embedding model. */
  vectorValues: 2_000_000,
  eventKeepDays: 14,
  eventDataBytes: 256 * 1024,
  passwordCharactersMin: 10,
  passwordCharactersMax: 512,
  passwordHashesWaiting: 128,
  loginFailures: 10,
  loginFailureWindowMs: 15 * 60_000,
  loginLockMs: 15 * 60_000,
  secondFactorTries: 5,
  pendingLoginMs: 5 * 60_000,
  accessTokenMs: 15 * 60_000,
  sessionIdleMs: 14 * DAY_MS,
  sessionAbsoluteMs: 90 * DAY_MS,
  sessionsPerUser: 100,
  apiKeysPerUser: 100,
  signOnMs: 10 * 60_000,
  waitlistEntries: 10_000,
  taskLeaseMs: 30 * 60_000,
  routinesPerUserAndAgent: 50,
  ticksMissed: 1_000,
  tasksInPrompt: 20,
  idleSandboxesPerUser: 4,
  idleSandboxes: 32,
  /** All files of a sandbox whose files are carried. */
  carriedEntries: 1_000_000,
  carriedBytes: 20 * 1024 ** 3,
  carriedDepth: 128,
  /** Copies of files on the container engine that no sandbox uses. */
  carriedCopies: 64,
  carrierIdleMs: 60_000,
  carrierMs: 15 * 60_000,
  tickLateMs: 60_000,
  timelineMs: 400 * DAY_MS,
  storedPerUserBytes: 1024 ** 3,
  workspacesPerUserBytes: 20 * 1024 ** 3,
  unfinishedRunsPerUser: 1_000,
  openChatsPerUser: 1_000,
  streamsPerUser: 100,
  logStreamsPerUser: 20,
  attachmentUnheldMs: DAY_MS,
  /** Files that a forked chat takes along: their number, total size, and the size of each. */
  forkFiles: 20_000,
  forkBytes: 1024 ** 3,
  forkFileBytes: 64 * 1024 ** 2,
  codehostRules: 200,
  codehostAttempts: 10,
  outsideTextCharacters: 30_000,
  pullDiffCharacters: 100_000,
  /** Unpacked size of a project's archive. */
  projectArchiveBytes: 16 * 1024 * 1024,
  cookieFileBytes: 1024 * 1024,
  speechBytes: 50 * 1024 * 1024,
  speechTimeoutMs: 120_000,
  speechCacheBytes: 200 * 1024 * 1024,
  cookiesPerSet: 5_000,
  cookieSetsPerUser: 200,
  notificationChannelsPerUser: 50,
  /** Per channel, including tests. */
  notificationsPerHour: 120,
  messengers: 20,
  linkCodeMinutes: 15,
  /** How long a button in a message can be pressed when the question itself has no earlier end. */
  notificationButtonHours: 24,
  /** Per channel, no matter who is linked to it. */
  phoneCommandsPerHour: 30,
  /** How long the button that starts a run can be pressed. */
  phoneCommandMinutes: 15,
  /** Refused buttons and codes of one messenger that are recorded in the audit log. */
  refusedAnswersPerHour: 200,
  /** Cookies of one user in granted sets. Their values are masked in all text, which costs time. */
  cookiesGrantedPerUser: 5_000,
  streamQueueEvents: 2_000,
  streamHeartbeatMs: 10_000,
  outputFlushMs: 50,
  executionsPerAgent: 4,
  sessionTreeDepth: 3,
  sessionTreeSize: 64,
  swarmTasks: 50,
  swarmConcurrent: 16,
  quotedCharacters: 16_000,
  quotedAllCharacters: 96_000,
  agentMessageCharacters: 8_000,
  agentMessagesUnread: 100,
  agentMessagesPerMinute: 20,
  agentMessageHops: 3,
  transcriptOutputCharacters: 16_000,
  callsPerReply: 100,
  outputsCharacters: 256 * 1024,
  replyCharacters: 1_000_000,
  toolOutputBytes: 32 * 1024,
  toolWholeOutputBytes: 16 * 1024 * 1024,
  variableBytes: 100_000,
  toolTimeoutMs: 120_000,
  bashTimeoutMs: 600_000,
  modelIdleTimeoutMs: 120_000,
  modelAttempts: 5,
  replyTokensEstimate: 4_096,
  replyTokensAmple: 32_768,
  turnsDefault: 50,
  turnsMax: 1_000,
  executionTimeoutSeconds: 3_600,
  pipelineSteps: 200,
  forEachItems: 200,
  stepVisits: 20,
  skillsInjected: 5,
  jobInterruptions: 3,
  egressAtOnce: 32,
  egressOfAll: 512,
  egressConnections: 5_000,
  egressBytes: 10 * 1024 ** 3,
  egressHeadBytes: 16 * 1024,
  egressHeadMs: 15_000,
  egressConnectMs: 20_000,
  egressSilenceMs: 300_000,
  /**
   * Connections of visitors to all previews, and to one. A sandbox may have as many again for what its agent opens.
   */
  previewConnections: 256,
  previewConnectionsOfOne: 32,
  previewHeadBytes: 32 * 1024,
  previewHeadMs: 15_000,
  previewBodyBytes: 100 * 1024 * 1024,
  /** All bytes that one preview's visitors send and receive. */
  previewBytes: 4 * 1024 ** 3,
  previewSilenceMs: 300_000,
  previewConnectionMs: HOUR_MS,
  previewVisitMs: 8 * HOUR_MS,
  previewVisits: 200,
  /** Minutes that an app is kept after its step: the default, and the most. */
  previewKeepMinutes: 30,
  previewKeepMinutesMost: 1_440,
  /**
   * Screenshots of an app: per step as its pipeline says, and per run in all; for each, its bytes, the pixels of a
   * side, and the time to take it.
   */
  screenshotsPerStep: 10,
  screenshotsPerRun: 60,
  screenshotBytes: 2 * 1024 * 1024,
  screenshotPixels: 4_096,
  screenshotMs: 45_000,
  /** Sandboxes whose app is kept. */
  keptPreviewsPerUser: 4,
  keptPreviews: 16,
  fetchBytes: 2 * 1024 * 1024,
  fetchTimeoutMs: 30_000,
  fetchRedirects: 5,
  /** One request to the model gateway: a conversation with its pictures. */
  gatewayBodyBytes: 32 * 1024 * 1024,
  /** Requests of one execution that wait for their turn at the model gateway. */
  gatewayWaiting: 32,
  /** One message of an external agent; all that it says in one turn; and other output between its messages. */
  harnessMessageBytes: 8 * 1024 * 1024,
  harnessTurnBytes: 256 * 1024 * 1024,
  harnessNoiseBytes: 64 * 1024 * 1024,
  harnessCallsPerTurn: 2_000,
  /** opencode needs five seconds of processor time before its first message, which takes minutes on a busy machine. */
  harnessStartMs: 180_000,
  /**
   * One message of an editor, with its pictures; other input without a message; and answers that the editor has not
   * read yet.
   */
  editorMessageBytes: 32 * 1024 * 1024,
  editorNoiseBytes: 64 * 1024 * 1024,
  editorUnreadBytes: 8 * 1024 * 1024,
  editorRequests: 64,
  editorSessions: 200,
  mcpServers: 200,
  mcpToolsPerServer: 500,
  mcpMessageBytes: 4 * 1024 * 1024,
  mcpNoiseBytes: 64 * 1024 * 1024,
  /** Unsolicited messages of a tool server. */
  mcpNoticesPerSecond: 50,
  mcpNoticesAtOnce: 200,
  mcpTimeoutMs: 10_000,
  mcpTimeoutMaxMs: 600_000,
  mcpToolDescriptionCharacters: 8_000,
  mcpToolSchemaBytes: 64 * 1024,
  mcpLogLines: 1_000,
  mcpLogLineCharacters: 2_000,
  mcpRestartMs: 60_000,
  /** Submodules of one working copy, including nested ones; and how deeply they may be nested. */
  submodules: 20,
  submoduleLevels: 3,
  /** Limits of one submodule. */
  submoduleFiles: 100_000,
  submoduleBytes: 1024 ** 3,
  /** A run's Git LFS files: their number, total size, and the size of each, which is the limit for committed files. */
  lfsFiles: 2_000,
  lfsBytes: 2 * 1024 ** 3,
  lfsFileBytes: 100 * 1024 ** 2,
  /** A receiver of traces that accepts them again does not get traces that ended longer ago. */
  telemetryKeepMs: HOUR_MS,
  /** Combinations of label values of one counter in /metrics; further ones are counted as `other`. */
  metricSeries: 100,
  indexDebounceMs: 1_000,
  indexDebounceMaxMs: 10_000,
} as const;
