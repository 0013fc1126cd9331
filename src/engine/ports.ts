/** The engine's ports. Everything that it does outside its own loop goes through them. */
import type { Clock } from "../core/clock.ts";
import type { DraftOf, EventDefinition } from "../core/events.ts";
import type { OwnLoginName } from "../core/harness-names.ts";
import type { Logger } from "../core/log.ts";
import type { Masking } from "../core/masking.ts";
import type { NetworkBounds } from "../core/network.ts";
import type { TextWork } from "../text/client.ts";
import type { HarnessConfig } from "./agent-file.ts";
import type { Attachments } from "./attachments.ts";
import type { Ending, Execution, ExecutionRows, FirstPrompt, StopRequest } from "./execution.ts";
import type { HarnessPort } from "./harness/port.ts";
import type { ModelPort } from "./model.ts";
import type { Permissions } from "./permission/permit.ts";
import type { CacheFolders, HarnessFolders, Sandbox, SandboxAbout, SandboxServices } from "./sandbox.ts";
import type { SandboxPool } from "./sandbox-pool.ts";
import type { Tool } from "./tool.ts";

/** How sandboxes for work on a project's code are set up. */
export interface CodeEnvironment {
  image?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  host_labels?: readonly string[] | undefined;
  /** Image that the project's setup produced. */
  layer?: string | undefined;
  /** Folders of the home that are kept for this work. */
  kept?: CacheFolders | undefined;
}

export interface EngineAgent {
  id: string;
  harness: HarnessConfig;
  /** Set when the agent uses the log-in of the person it works for, at this program's vendor. */
  ownLogin?: OwnLoginName | undefined;
  thinkingLevel: "off" | "low" | "medium" | "high";
  temperature?: number | undefined;
  maxTurns: number;
  image?: string | undefined;
  layer?: string | undefined;
  kept?: CacheFolders | undefined;
  /** Environment variables of the project's code. */
  env: Readonly<Record<string, string>>;
  network: NetworkBounds;
  runtime?: string | undefined;
  /** Labels that the agent's host must have, when there are several hosts. */
  hostLabels: readonly string[];
  memoryMb: number;
  cpus: number;
}

/** An app that a step runs, as its pipeline describes it. */
export interface StepPreview {
  /** Port on the sandbox's loopback interface. */
  port: number;
  path: string;
  /** Minutes that the app runs on after its step. 0: it ends with the step. */
  keepMinutes: number;
  /** Pages that are photographed when the step ends. */
  screenshots: readonly string[];
}

/** A screenshot of an app's page: bounded in size, and checked to be a PNG. */
export interface Screenshot {
  path: string;
  png: Uint8Array;
  width: number;
  height: number;
}

/** A preview that people can open. */
export interface OpenPreview {
  /** Its step has ended; the app keeps running until then, ms since the epoch. */
  keep(until: number): void;
  close(): void;
}

export interface PreviewPort {
  /** Undefined when the step has no preview, or it cannot be shown. */
  of(execution: Execution): StepPreview | undefined;
  /** Stores screenshots. @param missing a sentence that says why others were not made. */
  keepScreenshots(execution: Execution, made: readonly Screenshot[], missing: string | undefined): void;
  /** @param app how to reach the app at any moment, and how to stop it while it is kept. */
  open(
    execution: Execution,
    preview: StepPreview,
    app: { connect: Sandbox["connect"]; stop(): Promise<void> },
  ): OpenPreview;
}

export interface Overdrawn {
  /** Which budget: `run`, `agent_day`, `user_month`, `instance`… */
  scope: string;
  limitUsd: number;
  spentUsd: number;
  /** Reserved for other calls under way. */
  heldUsd: number;
  /** When the budget resets. Null for a run's or a session's budget, which never resets. */
  resetsAt: string | null;
}

/** Ports that the engine uses exactly as they are passed in. */
export interface GivenPorts {
  rows: ExecutionRows;
  models: ModelPort;
  /** External agents. */
  harness: HarnessPort;
  clock: Clock;
  log: Logger;
  /** Masks all values that must not be stored or shown. */
  masking: Masking;
  text: Pick<TextWork, "schemaFaults">;
  /** Puts messages from other agents into this execution's transcript. Called before each request. */
  deliver(execution: Execution): void;
  /** Granted secrets in plaintext, by variable name. */
  secretsOf(execution: Execution): Record<string, string>;
  /** The browser cookies that the agent was granted, as a file; asked for each sandbox. */
  cookiesOf(execution: Execution): string | undefined;
  /**
   * The log-in that the person has stored for this program. @throws Problem 409 `own_login_missing`,
   * `own_login_needs_container`.
   */
  ownLoginOf(execution: Execution, harness: OwnLoginName): string;
  /** The longest that an execution waits for a provider whose quota is used up, ms. */
  providerWaitMs(): number;
  /**
   * Why this work may not continue, as a sentence: its user may no longer work in its project. Undefined: it may. Asked
   * before each call of a model or a tool.
   */
  shutOut(execution: Execution): string | undefined;
  /**
   * Whether the next call fits every budget. If it does, says whether there is ample room or the reply must be kept
   * short.
   */
  admit(
    execution: Execution,
    price: { leastUsd: number; ampleUsd: number /** It is known to cost nothing. */; isFree: boolean },
  ): Overdrawn | { isAmple: boolean };
  /** Queues an event that may be lost. */
  emitSoon<D extends EventDefinition>(definition: D, draft: DraftOf<D>): void;
}

export interface EnginePorts extends GivenPorts {
  /** Awaited before every piece of work on the thread: see `createFairTurns`. */
  turn(): Promise<void>;
  sandboxes: Pick<SandboxPool, "noticeMs" | "about" | "lease" | "quiet">;
  /** @throws Problem when the agent does not exist or its file is broken. */
  agentOf(execution: Execution): EngineAgent;
  /**
   * @throws Problem 403 `shell_denied` when a command wants the sandbox of an agent that may not use a shell itself.
   */
  assertShell(execution: Execution): void;
  /** The model to use: run > step > pipeline > agent > settings. @throws Problem when none is set. */
  modelOf(execution: Execution): string;
  /**
   * The agent's fallback models, else the settings', in order. They are asked when a model cannot answer: quota,
   * outage, refusal.
   */
  fallbackModels(execution: Execution): readonly string[];
  /** Model that writes summaries; undefined: the execution's own model. */
  summaryModel(): string | undefined;
  /** Transcript file of the scripted model for this execution. */
  scriptOf(execution: Execution): string | undefined;
  /** The tools that the execution has now; asked before every turn. */
  toolsFor(execution: Execution, sandbox: Pick<Sandbox, "capabilities">): Promise<Tool[]>;
  /** The rules for what its agent may do, and the questions to people. */
  permissions: Permissions;
  attachments: Attachments;
  /** The system prompt, and the text of the task or of the person's message. */
  promptFor(execution: Execution, tools: readonly Tool[], about: SandboxAbout): Promise<FirstPrompt>;
  /**
   * Variables that tell programs where they work: those that all executions of a session share, and those of this one.
   */
  variablesOf(execution: Execution, token: string | null): Record<"session" | "execution", Record<string, string>>;
  /**
   * Services that run beside the sandboxes of its work, started and healthy; undefined when its project's environment
   * names none.
   * @throws Problem 503 `service_failed`, 409 `services_unsupported`.
   */
  services(execution: Execution, agent: EngineAgent, signal: AbortSignal): Promise<SandboxServices | undefined>;
  previews: PreviewPort;
  tokens: { issue(execution: Execution): string; revoke(executionId: string): void };
  workspaces: {
    /** Absolute path of the folder on this host that holds the execution's files, ready to work in. */
    prepare(execution: Execution, signal: AbortSignal): Promise<string>;
    /** The folders of its session for an external agent; created when missing. */
    harness(execution: Execution): Promise<HarnessFolders>;
    /**
     * Commits what the execution changed, and merges it into the branch that its work is a part of.
     * @throws Problem 409 `merge_conflict` when that branch changed the same places meanwhile: the execution fails.
     */
    commit(execution: Execution, ending: Pick<Ending, "status" | "text">): Promise<void>;
    /**
     * Commits what a failed or stopped execution left in its own working copy, but nothing for a pipeline's step. Never
     * throws.
     */
    keep(execution: Execution, ending: Ending): Promise<void>;
  };
}

/** Why an execution's signal was aborted. */
export class Stopped extends Error {
  constructor(readonly why: StopRequest | "timeout" | "shutdown") {
    super(why);
  }
}
