/** Rows of sessions and executions. */

import { createHash } from "node:crypto";
import { type Clock, DAY_MS, toTimestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { toNano } from "../../core/money.ts";
import { NO_AGENT } from "../../core/no-agent.ts";
import type { Execution, TakeRule } from "../../engine/execution.ts";
import type { SessionKind } from "../../engine/kinds.ts";
import { textPart } from "../../engine/parts.ts";
import { type Condition, matchIn } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { executions, prompts, sessions } from "../../store/tables/sessions.ts";
import type { SessionDraft, TurnDraft } from "./model.ts";

export type SessionRow = typeof sessions.$inferSelect;
export type ExecutionRow = typeof executions.$inferSelect;
/** An execution with its session. */
export type Work = ExecutionRow & { session: SessionRow };

const toOptional = <T>(value: T | null): T | undefined => value ?? undefined;

export function toExecution({ session, ...row }: Work, system: string | null): Execution {
  return {
    id: row.id,
    sessionId: session.id,
    kind: session.kind,
    agentId: row.agent_id,
    userId: toOptional(session.user_id),
    parentId: toOptional(session.parent_id),
    depth: session.depth,
    runId: toOptional(session.run_id),
    workId: toOptional(session.run_id ?? session.work_id),
    stepId: toOptional(session.step_id),
    projectId: toOptional(session.project_id),
    taskId: toOptional(session.task_id),
    wantedModel: toOptional(row.wanted_model ?? session.wanted_model),
    onlyTools: toOptional(session.tools),
    input: row.input,
    system,
    contract: row.contract,
    command: row.command,
    skills: row.skills,
    timeoutSeconds: row.timeout_seconds,
    createdAt: Date.parse(row.created_at),
    startedAt: row.started_at === null ? null : Date.parse(row.started_at),
    waitsFor: toOptional(row.waits_for),
    waitedMs: row.waited_ms,
    waitingSince: toOptional(row.waiting_since),
  };
}

/** Longer than any wait that a provider is given, ms. A wait beyond it counts as over: the clock was set back. */
const PROVIDER_WAIT_MOST_MS = 8 * DAY_MS;
/**
 * Picks the queued executions to start next: at most one per session, none for a session that is running or has begun
 * another execution which waits, and at most the free slots of each agent (@perAgent less @busy, the number that it has
 * at work).
 *
 * The order is fair. Turns go round the users, then round each user's lanes, which are runs or trees of sessions.
 * Running work counts as turns taken, so thousands of one user's runs delay another user's by one slot. Among equal
 * users, the one whose last start is longest ago comes first (@latest: a number per user).
 *
 * Turns of users are counted twice: for the slots of each agent, and then among the executions that got one. So work
 * that waits for a busy agent does not delay its owner's work of other agents. A server without accounts has one user,
 * null.
 */
const QUEUE = `
  WITH ready AS (
    SELECT e.id, e.session_id, e.agent_id, e.urgent, coalesce(e.run_id, s.root_id) AS lane, coalesce(s.user_id, '') AS user
    FROM executions e JOIN sessions s ON s.id = e.session_id
    WHERE e.status = 'queued' AND (e.not_before <= @now OR e.not_before > @now + 60000)
      AND (e.provider_until IS NULL OR e.provider_until <= @now OR e.provider_until > @now + ${PROVIDER_WAIT_MOST_MS})
      AND (@below = 0 OR s.parent_id IS NOT NULL)
      AND NOT EXISTS (
        SELECT 1 FROM executions beside WHERE beside.session_id = e.session_id AND beside.id <> e.id
          AND (beside.status = 'running' OR (beside.status = 'queued' AND beside.started_at IS NOT NULL)))
  ), firsts AS (
    SELECT id, agent_id, lane, user, row_number() OVER (PARTITION BY session_id ORDER BY urgent DESC, id) AS place FROM ready
  ), working AS (
    SELECT coalesce(e.run_id, s.root_id) AS lane, coalesce(s.user_id, '') AS user
    FROM executions e JOIN sessions s ON s.id = e.session_id WHERE e.status = 'running'
  ), lanes AS (SELECT lane, count(*) AS at_work FROM working GROUP BY 1
  ), users AS (SELECT user, count(*) AS at_work FROM working GROUP BY 1
  ), turns AS (
    SELECT id, agent_id, user, coalesce(at_work, 0) + row_number() OVER (PARTITION BY lane ORDER BY id) AS turn
    FROM firsts LEFT JOIN lanes USING (lane) WHERE place = 1
  ), starts AS (SELECT key AS user, value AS start FROM json_each(@latest)
  ), asked AS (
    SELECT id, agent_id, user, turn, coalesce(at_work, 0) AS taken, coalesce(start, 0) AS latest,
      coalesce(at_work, 0) + row_number() OVER (PARTITION BY user, agent_id ORDER BY turn, id) AS of_user
    FROM turns LEFT JOIN users USING (user) LEFT JOIN starts USING (user)
  ), ranked AS (
    SELECT id, agent_id, user, turn, taken, latest, row_number() OVER (PARTITION BY agent_id ORDER BY of_user, latest, turn, id)
      + coalesce((SELECT value FROM json_each(@busy) WHERE key = agent_id), 0) AS of_agent
    FROM asked
  ), allowed AS (
    SELECT id, turn, latest, taken + row_number() OVER (PARTITION BY user ORDER BY turn, id) AS of_user
    FROM ranked WHERE of_agent <= @perAgent OR agent_id = '${NO_AGENT}'
  )
  SELECT id FROM allowed ORDER BY of_user, latest, turn, id LIMIT @most`;

const LIVE: Condition = ["status IN ('queued', 'running')"];

const HARNESS_SESSION = `SELECT harness_session FROM executions
  WHERE session_id = ? AND id = coalesce(?, id) AND harness_session IS NOT NULL ORDER BY id DESC LIMIT 1`;

/** A new session's place in its tree, its budget account, and its branch. */
type SessionPlace = Pick<SessionRow, "id" | "root_id" | "depth" | "purse_id" | "lender_id" | "work_id" | "branch">;

function newSession(
  { model, budget_usd, ...draft }: SessionDraft,
  place: SessionPlace,
  at: string,
): typeof sessions.$inferInsert {
  return {
    ...draft,
    ...place,
    tree_size: 1,
    wanted_model: model,
    status: "open",
    stopping: false,
    budget_nano: budget_usd === undefined ? null : toNano(budget_usd),
    spent_nano: 0,
    reserved_nano: 0,
    tokens: 0,
    execution_count: 0,
    message_count: 0,
    created_at: at,
    last_activity_at: at,
  };
}

function newExecution(of: SessionRow, turn: TurnDraft, at: string): typeof executions.$inferInsert {
  return {
    id: newId("execution"),
    session_id: of.id,
    agent_id: of.agent_id,
    run_id: of.run_id,
    step_row_id: turn.step_row_id,
    status: "queued",
    steers: turn.mode === "steer",
    urgent: turn.mode === "interrupt",
    message_id: newId("message"),
    input: typeof turn.input === "string" ? [textPart(turn.input)] : turn.input,
    command: turn.command,
    contract: turn.contract ?? { outputs: [], schema: null },
    skills: turn.skills ?? [],
    wanted_model: turn.model,
    timeout_seconds: turn.timeout_seconds,
    not_before: 0,
    turns: 0,
    cost_nano: 0,
    tokens: 0,
    outputs: {},
    waited_ms: 0,
    text: "",
    created_at: at,
  };
}

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore(
  { rows, sqlite, statement }: Pick<Store, "rows" | "sqlite" | "statement">,
  clock: Clock,
) {
  const [sessionRows, executionRows, promptRows] = [rows(sessions), rows(executions), rows(prompts)];
  const readNow = () => toTimestamp(clock.now());
  const queue = sqlite.prepare<unknown[], string>(QUEUE).pluck();
  /**
   * For each user, the number of their execution that was taken last; the key '' stands for no user. It is empty at
   * each start of the server.
   */
  const latest = new Map<string, number>();
  let taken = 0;
  const keepPrompt = (text: string): string => {
    const id = createHash("sha256").update(text).digest("base64url");
    promptRows.insertIfNew({ id, text });
    return id;
  };
  const findSession = (id: string): SessionRow | undefined => sessionRows.find({ id });
  const findExecution = (id: string): ExecutionRow | undefined => executionRows.find({ id });
  const findWork = (id: string): Work | undefined => {
    const row = findExecution(id);
    return row && { ...row, session: findSession(row.session_id)! };
  };
  const liveIn = (session_id: string): ExecutionRow[] =>
    executionRows.list([{ session_id }, LIVE], { order: "urgent DESC, id" });
  const ofSession = (id: string, wanted: "queued" | "running"): ExecutionRow[] =>
    liveIn(id).filter(({ status }) => status === wanted);

  return {
    findSession,
    findExecution,
    findWork,
    insertSession: (draft: SessionDraft, place: SessionPlace): SessionRow =>
      sessionRows.add(newSession(draft, place, readNow())),
    insertExecution: (of: SessionRow, turn: TurnDraft): ExecutionRow =>
      executionRows.add(newExecution(of, turn, readNow())),
    updateSession: (id: string, change: Partial<SessionRow>) => void sessionRows.update(change, { id }),
    /** Ends waits for a provider. @returns the number of executions that waited. */
    endProviderWaits: (where: { runId: string } | { sessionId: string }): number =>
      executionRows.update(
        { provider_until: null },
        "runId" in where ? { run_id: where.runId } : { session_id: where.sessionId },
        ["status = 'queued' AND provider_until IS NOT NULL"],
      ),
    /** The wait for a provider in that run or session that ends first. */
    providerWait(where: { runId: string } | { sessionId: string }): { reason: string; until: number } | undefined {
      const [column, id] = "runId" in where ? ["run_id", where.runId] : ["session_id", where.sessionId];
      return statement<{ reason: string; until: number }>(
        `SELECT waits_for AS reason, provider_until AS until FROM executions
         WHERE ${column} = ? AND status = 'queued' AND provider_until IS NOT NULL AND waits_for IS NOT NULL
         ORDER BY provider_until LIMIT 1`,
      ).get(id);
    },
    /** Whether another execution of the run waits for the same thing. */
    othersWaitFor: (runId: string, id: string, what: string): boolean =>
      statement("SELECT 1 FROM executions WHERE run_id = ? AND id <> ? AND waits_for = ? LIMIT 1").get(
        runId,
        id,
        what,
      ) !== undefined,
    updateExecution: (id: string, change: Partial<ExecutionRow>) => void executionRows.update(change, { id }),
    removeExecution: (id: string) => void executionRows.remove({ id }),
    keepPrompt,
    prompt: (id: string): string | undefined => promptRows.find({ id })?.text,
    /** Ids of executions to take, in this order. */
    takeable(most: number, busyAgents: ReadonlyMap<string, number>, { perAgent, belowOnly }: TakeRule): string[] {
      const busy = JSON.stringify(Object.fromEntries(busyAgents));
      const turns = JSON.stringify(Object.fromEntries(latest));
      return queue.all({ now: clock.now(), busy, latest: turns, perAgent, most, below: belowOnly ? 1 : 0 });
    },
    /** Records that the user's work was taken, so that other users with as little running work come first now. */
    noteTaken: (userId: string | null) => void latest.set(userId ?? "", ++taken),
    /** The execution that was queued last in the session. */
    latest: (sessionId: string): ExecutionRow | undefined =>
      executionRows.list([{ session_id: sessionId }], { order: "id DESC", limit: 1 })[0],
    /** Queued executions of a session, in the order in which they will be taken. */
    listQueued: (sessionId: string): ExecutionRow[] => ofSession(sessionId, "queued"),
    /** Number of turns that have never started, for each session that has any. */
    waitingCounts: (sessionIds: readonly string[]): Map<string, number> =>
      new Map(
        statement<[string, number]>(
          `SELECT session_id, count(*) FROM executions
           WHERE session_id IN (SELECT value FROM json_each(?)) AND status = 'queued' AND started_at IS NULL
           GROUP BY session_id`,
        )
          .raw()
          .all(JSON.stringify(sessionIds)),
      ),
    /** The harness's own session id: of that execution, or the last one in the session. */
    harnessSession: (sessionId: string, executionId: string | undefined): string | undefined =>
      statement<string>(HARNESS_SESSION)
        .pluck()
        .get([sessionId, executionId ?? null]),
    hasSteering: (sessionId: string): boolean =>
      statement("SELECT 1 FROM executions WHERE session_id = ? AND status = 'queued' AND steers = 1 LIMIT 1").get([
        sessionId,
      ]) !== undefined,
    running: (sessionId: string): ExecutionRow | undefined => ofSession(sessionId, "running")[0],
    /** The execution that has begun and was given back, because it waits for something. */
    findBegun: (sessionId: string): ExecutionRow | undefined =>
      ofSession(sessionId, "queued").find(({ started_at }) => started_at !== null),
    isBusy: (sessionId: string): boolean => liveIn(sessionId).length > 0,
    /** Executions on which another process, now dead, was working. */
    listAbandoned: (owner: string): ExecutionRow[] =>
      executionRows.list([["status = 'running' AND lease_owner <> ?", owner]]),
    ownedBy: (owner: string): string[] =>
      statement<string>("SELECT id FROM executions WHERE status = 'running' AND lease_owner = ?").pluck().all(owner),
    liveExecutions: (): ExecutionRow[] => executionRows.list([LIVE]),
    /** Sessions that have not ended, oldest first. */
    open: (kinds: readonly SessionKind[] | undefined): SessionRow[] =>
      sessionRows.list([{ ended_at: null }, kinds && matchIn("kind", kinds)], { order: "id" }),
    startedBy: (parentId: string, callId: string): SessionRow | undefined =>
      sessionRows.find({ parent_id: parentId, call_id: callId }),
    liveChildren: (id: string): SessionRow[] => sessionRows.list([{ parent_id: id, ended_at: null }], { order: "id" }),
    addToTree: (rootId: string) =>
      void statement("UPDATE sessions SET tree_size = tree_size + 1 WHERE id = ?").run(rootId),
  };
}
