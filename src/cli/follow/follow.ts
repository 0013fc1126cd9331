/**
 * Follows a run: with a live tree of its steps on a terminal, plain lines elsewhere, one JSON line per event on
 * request.
 */
import type { Schemas } from "../../api/types.ts";
import type { SkepEvent } from "../../core/events.ts";
import { isRunEnd } from "../../core/run-states.ts";
import { listItems } from "../resource/find.ts";
import type { Client } from "../server/client.ts";
import { warnOfStandby } from "../server/standby.ts";
import { createLiveLines } from "../terminal/live.ts";
import { isLive, paint } from "../terminal/style.ts";
import { createApprovals } from "./approval.ts";
import { createPlainLines } from "./plain-lines.ts";
import { createReducer, initialState } from "./state.ts";
import { createStepText } from "./step-text.ts";
import { treeLines } from "./tree.ts";

export type RunView = Schemas["Run"];

interface FollowOptions {
  /** One JSON line per event instead of words. */
  json: boolean;
  /** Whether to show what agents write. Unset: only without a live tree, which already shows each agent's last line. */
  text?: boolean | undefined;
}

const STEPS = 1_000;

export const hasEnded = (run: Pick<RunView, "status">): boolean => isRunEnd(run.status);

/** Exit code by outcome: 0 succeeded, 1 failed, 3 cancelled. */
export const exitCodeOf = (status: string): number => (status === "succeeded" ? 0 : status === "cancelled" ? 3 : 1);

/** A form of output that receives events. */
export interface Follower {
  take(event: SkepEvent): void;
  end(): void;
}

/** Follows until the run ends or `signal` aborts. @returns the run at that moment. */
export async function followRun(
  client: Client,
  runId: string,
  { json, text }: FollowOptions,
  signal: AbortSignal,
): Promise<RunView> {
  const live = isLive() && !json;
  await warnOfStandby(client);
  const follower = json
    ? jsonLines()
    : live
      ? await liveTree(client, runId, text ?? false, signal)
      : createPlainLines(client, runId, text ?? true, signal);
  try {
    for await (const event of client.events(`/v1/events/stream?run_id=${runId}`, signal)) follower.take(event);
  } finally {
    follower.end();
  }
  return client.call("GET", `/v1/runs/${runId}`);
}

const jsonLines = (): Follower => ({ take: (event) => console.log(JSON.stringify(event)), end: () => {} });

async function liveTree(client: Client, runId: string, text: boolean, signal: AbortSignal): Promise<Follower> {
  const { pipeline_id } = await client.call("GET", `/v1/runs/${runId}`);
  console.log(`${paint("bold", pipeline_id)} ${paint("dim", `${runId} at ${client.url}`)}`);
  const { items } = await listItems(client, `/v1/steps/${runId}`, STEPS);
  const state = initialState(items);
  const reduce = createReducer(state);
  const lines = createLiveLines((size) => treeLines(state, { ...size, now: Date.now() }));
  const said = text ? createStepText(lines.above) : undefined;
  const approvals = createApprovals(client, runId, { signal, before: lines.hide, after: lines.show });
  return {
    take(event) {
      reduce(event);
      said?.take(event);
      approvals.take(event);
      lines.refresh();
    },
    end() {
      approvals.end();
      said?.end();
      lines.end();
    },
  };
}
