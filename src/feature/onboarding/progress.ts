/**
 * Drives an onboarding session. Interviewers fill the context and end their phases; the next one takes over when the
 * turn ends; the last phase ends in the project. Each step is one transaction and happens once: after a crash, the rows
 * say where to continue.
 */

import { Value } from "@sinclair/typebox/value";
import { conflict, invalidField } from "../../core/errors.ts";
import { membersOf } from "../../core/is-object.ts";
import type { Masker } from "../../core/masking.ts";
import { NO_PROJECTS } from "../../core/ownership.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store, WriteTx } from "../../store/store.ts";
import type { SessionOwner, Sessions } from "../sessions/service.ts";
import {
  mergeContext,
  type OnboardingContext,
  type Phase,
  SECTIONS,
  taskFaults,
  type WholeContext,
} from "./context.ts";
import { onboardingChanged } from "./events.ts";
import { type Making, makeProject } from "./making.ts";
import { cueFor, fieldsOf, interviewerOf, nextPhase, type Suggestion } from "./relay.ts";
import { type OnboardingRow, type OnboardingStore, onboardingId } from "./store.ts";

type Change = "created" | "context" | "phase" | "completed" | "abandoned";

export type Progress = ReturnType<typeof createProgress>;

interface ProgressDeps {
  store: Store;
  sessions: Sessions;
  rows: OnboardingStore;
  masker: Pick<Masker, "json">;
  making: Making;
  nameTaken(name: string): boolean;
  pipelineExists(id: string): boolean;
  /**
   * The address in the form in which it is stored.
   * @throws Problem 422 for an address that no project may have: malformed, or with credentials.
   */
  repositoryAddress(text: string): string;
  pipelines(): Suggestion[];
  timeoutSeconds(): number;
}

/** An execution acts with the rights of its user, but never with those of an administrator. */
const callerOf = ({ id, sessionId, agentId, userId }: ExecutionInfo): Caller => ({
  kind: "execution",
  admin: false,
  userId,
  projects: NO_PROJECTS,
  execution: { id, sessionId, agentId, runId: undefined, projectId: undefined },
});

export function createProgress(deps: ProgressDeps) {
  const { store, sessions, rows } = deps;
  const rowOf = (sessionId: string): OnboardingRow => rows.find(sessionId)!;
  const say = (tx: WriteTx, sessionId: string, change: Change): void => {
    const { status, phase, project_id } = rowOf(sessionId);
    const { agent_id, user_id } = sessions.find(sessionId)!;
    tx.emit(onboardingChanged, {
      session_id: sessionId,
      agent_id,
      user_id: user_id ?? undefined,
      data: { onboarding_id: onboardingId(sessionId), change, status, phase, project_id },
    });
  };
  const cue = (sessionId: string, phase: Phase): void => {
    const { context, cues } = rowOf(sessionId);
    const input = cueFor(phase, context, phase === "architecture" ? deps.pipelines() : []);
    // The cue goes ahead of messages that the person has sent meanwhile, so that the next interviewer knows the context
    // first.
    const timeout_seconds = deps.timeoutSeconds();
    const turn = sessions.queue(sessionId, { input, mode: "interrupt", timeout_seconds, continues: true });
    rows.update(sessionId, { cues: [...cues, turn.message_id] });
  };
  /** The phase that this interviewer leads now; undefined when it does not lead. */
  const ledBy = ({ sessionId, agentId }: ExecutionInfo): { row: OnboardingRow; phase: Phase | undefined } => {
    const row = rowOf(sessionId);
    const phase = row.phase === "done" || row.status !== "active" ? undefined : row.phase;
    return { row, phase: phase && interviewerOf(phase) === agentId ? phase : undefined };
  };
  const giveUp = (tx: WriteTx, sessionId: string): void => {
    if (rows.find(sessionId)?.status !== "active") return;
    rows.update(sessionId, { status: "abandoned" });
    say(tx, sessionId, "abandoned");
  };
  const describeEnd = (row: OnboardingRow): string =>
    row.status === "completed"
      ? `The project ${row.project_id} is made. Say goodbye in a sentence; there is nothing left to ask.`
      : `Your part is over. Say so in a sentence and ask nothing: the interviewer for "${row.phase}" speaks next.`;

  return {
    /** Emits the event of a change, with the row as it is now. */
    say,
    /** Starts the phase's interviewer. */
    cue,
    /** Marks an active session as given up. From then on it can no longer make a project, whatever still runs in it. */
    giveUp,
    /** Adds to the context. @returns everything that is known, and which fields the phase still needs. */
    update: (execution: ExecutionInfo, more: OnboardingContext): { context: OnboardingContext; missing: string[] } =>
      store.write((tx) => {
        const { row, phase } = ledBy(execution);
        if (!phase) throw conflict(describeEnd(row), "phase_over");
        const given = deps.masker.json(more);
        if (Object.keys(given).length === 0) return { context: row.context, missing: missingOf(phase, row.context) };
        const { name, repository } = given.intake ?? {};
        // The address is checked now, because in the last phase nobody is left to ask. Its error does not repeat the
        // address, which may hold a password.
        if (given.intake && repository) given.intake.repository = deps.repositoryAddress(repository);
        if (name !== undefined && deps.nameTaken(name))
          throw conflict("A project with this name exists. Ask the person for another name.", "name_taken");
        const pipeline = given.architecture?.pipeline_id;
        if (pipeline && !deps.pipelineExists(pipeline))
          throw invalidField("/architecture/pipeline_id", "There is no such pipeline");
        const [fault] = taskFaults(given.architecture?.tasks ?? []);
        if (fault) throw invalidField("/architecture/tasks", fault);
        const context = mergeContext(row.context, given);
        rows.update(row.session_id, { context });
        say(tx, row.session_id, "context");
        return { context, missing: missingOf(phase, context) };
      }),
    /**
     * Ends the phase that this interviewer leads; the last phase makes the project. A repeated call only returns the
     * result.
     * @throws Problem 409 `phase_incomplete` with what is missing, or for a project's name that is taken.
     */
    finish: (execution: ExecutionInfo): string =>
      store.write((tx) => {
        const { row, phase } = ledBy(execution);
        if (!phase) return describeEnd(row);
        const missing = missingOf(phase, row.context);
        if (missing.length > 0)
          throw conflict(
            `The phase cannot end yet. Find out, and put in with update_context: ${missing.join("; ")}.`,
            "phase_incomplete",
          );
        const next = nextPhase(phase);
        if (next) {
          rows.update(row.session_id, { phase: next });
          say(tx, row.session_id, "phase");
          return describeEnd(rowOf(row.session_id));
        }
        const { project, tasks } = makeProject(deps.making, row.context as unknown as WholeContext, {
          caller: callerOf(execution),
          outside: sessions.outside.reasonOf(execution),
        });
        rows.update(row.session_id, { phase: "done", status: "completed", project_id: project.id });
        say(tx, row.session_id, "completed");
        return `The project "${project.name}" is made with its vision and ${tasks.length} task${tasks.length === 1 ? "" : "s"}. Say goodbye in a sentence; there is nothing left to ask.`;
      }),
    /** Reacts to the ends of turns and sessions. */
    owner: {
      onExecutionEnd({ session_id }) {
        const row = rows.find(session_id);
        const session = sessions.find(session_id);
        if (!row || !session || session.ended_at !== null || session.stopping) return;
        if (row.phase === "done" || row.status !== "active") return sessions.end(session_id);
        const next = interviewerOf(row.phase);
        if (session.agent_id === next) return;
        sessions.change(session_id, { agent_id: next });
        cue(session_id, row.phase);
      },
      onSessionEnd: ({ id }, tx) => giveUp(tx, id),
    } satisfies SessionOwner,
  };
}

/** Fields that the phase needs and the context lacks, as text. */
function missingOf(phase: Phase, context: OnboardingContext): string[] {
  const section = membersOf(context[phase]);
  const absent = fieldsOf(phase).required.filter((name) => section[name] === undefined);
  if (absent.length > 0) return absent.map((name) => `${phase}.${name}`);
  return [...Value.Errors(SECTIONS[phase], section)]
    .slice(0, 5)
    .map(({ path, message }) => `${phase}${path}: ${message}`);
}
