/** What the engine is given by the rest: everything it does outside its own loop goes through here. */
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

/** What sandboxes that work on a project's code are started with. */
export interface CodeEnvironment {
  image?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  host_labels?: readonly string[] | undefined;
  /** Image that its set-up left. */
  layer?: string | undefined;
  /** What of the home is kept for this work. */
  kept?: CacheFolders | undefined;
}

export interface EngineAgent {
  id: string;
  harness: HarnessConfig;
  /** It works with the log-in of the person whose work it does, at this program's vendor. */
  ownLogin?: OwnLoginName | undefined;
  thinkingLevel: "off" | "low" | "medium" | "high";
  temperature?: number | undefined;
  maxTurns: number;
  image?: string | undefined;
  layer?: string | undefined;
  kept?: CacheFolders | undefined;
  /** Variables of the environment of the project's code. */
  env: Readonly<Record<string, string>>;
  network: NetworkBounds;
  runtime?: string | undefined;
  /** Labels that its host has to have, where there are several. */
  hostLabels: readonly string[];
  memoryMb: number;
  cpus: number;
}

/** An app that a step runs, as its pipeline says. */
export interface StepPreview {
  /** On the loopback of its sandbox. */
  port: number;
  path: string;
  /** 0: it ends with the step. */
  keepMinutes: number;
  /** Pages of which pictures are kept when the step ends. */
  screenshots: readonly string[];
}

/** A picture of an app's page, of bounded size, and a PNG by its bytes. */
export interface Screenshot {
  path: string;
  png: Uint8Array;
  width: number;
  height: number;
}

/** A preview that people can open. */
export interface OpenPreview {
  /** Its step has ended; the app runs until then, ms since the epoch. */
  keep(until: number): void;
  close(): void;
}

export interface PreviewPort {
  /** Undefined where the step has none, or it cannot be shown. */
  of(execution: Execution): StepPreview | undefined;
  /** Keeps pictures that were made. @param missing why others were not, a sentence. */
  keepScreenshots(execution: Execution, made: readonly Screenshot[], missing: string | undefined): void;
  /** @param app how it is reached at each moment, and ended where it is kept. */
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
  /** Held for calls of others that are under way. */
  heldUsd: number;
  /** Null where what was spent stays spent: of a run, of a session. */
  resetsAt: string | null;
}

/** What the engine uses as it is handed in. */
export interface GivenPorts {
  rows: ExecutionRows;
  models: ModelPort;
  /** External agents. */
  harness: HarnessPort;
  clock: Clock;
  log: Logger;
  /** All values that must not be stored or shown. */
  masking: Masking;
  text: Pick<TextWork, "schemaFaults">;
  /** Puts what other agents wrote to this one into its transcript, before each request. */
  deliver(execution: Execution): void;
  /** Granted secrets in plaintext, by variable name. */
  secretsOf(execution: Execution): Record<string, string>;
  /** The browser cookies that its agent was granted, as a file; asked for each sandbox. */
  cookiesOf(execution: Execution): string | undefined;
  /** What the person whose work it is has stored for that program. @throws Problem 409 `own_login_missing`, `own_login_needs_container`. */
  ownLoginOf(execution: Execution, harness: OwnLoginName): string;
  /** The longest that an execution waits for a provider whose quota is used up, ms. */
  providerWaitMs(): number;
  /**
   * Why this work may not go on, a sentence: whom it works for may not work in its project any more. Asked before each
   * call of a model or a tool. Undefined: it may.
   */
  shutOut(execution: Execution): string | undefined;
  /** Whether the next call fits every budget; and if so, whether they have ample room, or its reply is kept short. */
  admit(
    execution: Execution,
    price: { leastUsd: number; ampleUsd: number /** It is known to cost nothing. */; isFree: boolean },
  ): Overdrawn | { isAmple: boolean };
  /** Queues an event of the lossy class. */
  emitSoon<D extends EventDefinition>(definition: D, draft: DraftOf<D>): void;
}

export interface EnginePorts extends GivenPorts {
  /** Awaited before every piece of work on the thread: `createFairTurns`. */
  turn(): Promise<void>;
  sandboxes: Pick<SandboxPool, "noticeMs" | "about" | "lease" | "quiet">;
  /** @throws Problem when there is no such agent, or its file is broken. */
  agentOf(execution: Execution): EngineAgent;
  /** @throws Problem 403 `shell_denied` for a command in the sandbox of an agent that has no shell itself. */
  assertShell(execution: Execution): void;
  /** The model to use: run > step > pipeline > agent > settings. @throws Problem when none is set. */
  modelOf(execution: Execution): string;
  /** Models that are asked instead, in order, when one cannot answer: quota, outage, refusal. The agent's, else the settings'. */
  fallbackModels(execution: Execution): readonly string[];
  /** Model that writes summaries; undefined: the execution's own. */
  summaryModel(): string | undefined;
  /** Transcript file of the scripted model for this execution. */
  scriptOf(execution: Execution): string | undefined;
  /** Tools the execution has at this moment; asked before every turn. */
  toolsFor(execution: Execution, sandbox: Pick<Sandbox, "capabilities">): Promise<Tool[]>;
  /** What its agent may do, and the persons who are asked. */
  permissions: Permissions;
  attachments: Attachments;
  /** The system prompt, and the words of the task or of the person. */
  promptFor(execution: Execution, tools: readonly Tool[], about: SandboxAbout): Promise<FirstPrompt>;
  /** Variables that say where it works: the same in each execution of a session, and those of this one alone. */
  variablesOf(execution: Execution, token: string | null): Record<"session" | "execution", Record<string, string>>;
  /**
   * What runs beside the sandboxes of its work, started and healthy; undefined where its project's environment names none.
   * @throws Problem 503 `service_failed`, 409 `services_unsupported`.
   */
  services(execution: Execution, agent: EngineAgent, signal: AbortSignal): Promise<SandboxServices | undefined>;
  previews: PreviewPort;
  tokens: { issue(execution: Execution): string; revoke(executionId: string): void };
  workspaces: {
    /** Absolute path of the folder on this host that holds the execution's files, ready to work in. */
    prepare(execution: Execution, signal: AbortSignal): Promise<string>;
    /** The folders of its session for an external agent, made when they are missing. */
    harness(execution: Execution): Promise<HarnessFolders>;
    /**
     * Keeps what the execution changed, and takes it into the branch that its work is a part of.
     * @throws Problem 409 `merge_conflict` where that changed the same places meanwhile: the execution has failed.
     */
    commit(execution: Execution, ending: Pick<Ending, "status" | "text">): Promise<void>;
    /** Keeps what an execution that did not succeed left in a working copy of its own. Of a step nothing is kept. Never throws. */
    keep(execution: Execution, ending: Ending): Promise<void>;
  };
}

/** Why an execution's signal was aborted. */
export class Stopped extends Error {
  constructor(readonly why: StopRequest | "timeout" | "shutdown") {
    super(why);
  }
}
