/**
 * Reviews of a run's pull request. Comments of permitted people are kept and can lead to another attempt of the run.
 */
import type { Notice } from "../../adapter/codehost/webhook.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Store } from "../../store/store.ts";
import { runs } from "../../store/tables/runs.ts";
import type { Comments } from "../reviews/comments.ts";
import { type ActorRule, obstacleOf, WRITERS } from "./actors.ts";
import type { CodeHostConnection } from "./connection.ts";
import type { Links } from "./links.ts";
import type { Reaction } from "./react.ts";
import type { Rules } from "./rules.ts";

interface ReviewDeps {
  store: Store;
  connection: Pick<CodeHostConnection, "openHost" | "loadAccount">;
  links: Links;
  comments: Pick<Comments, "knows" | "addFromHost" | "hasOpen">;
  rules: Pick<Rules, "find">;
  /** Queues updates of the host and of the run after either changed. Call inside a transaction. */
  follow(runId: string): void;
}

/** A comment on the pull request that begins with this word asks for another attempt. */
const AGAIN = "/again";

export function createReview({ store, connection, links, comments, rules, follow }: ReviewDeps) {
  const works = store.rows(runs);
  return async (notice: Notice, runId: string): Promise<Reaction> => {
    const { kind, action, repository, number = 0 } = notice;
    const link = links.find(runId);
    const run = works.find({ id: runId });
    if (!link || !run) return { state: "ignored", detail: "The run is gone." };
    const rule: ActorRule = (link.rule_id === null ? undefined : rules.find(link.rule_id)) ?? WRITERS;
    const host = await connection.openHost();
    const own = (await connection.loadAccount()).login.toLowerCase();
    const obstacles = new Map<string, string | undefined>();
    const findObstacle = async (author: string): Promise<string | undefined> => {
      if (!obstacles.has(author)) obstacles.set(author, await obstacleOf(host, repository, author, rule));
      return obstacles.get(author);
    };
    const comment = kind === "comment" && notice.comment_id ? [await host.comment(repository, notice.comment_id)] : [];
    const said = [
      ...comment.map((one) => ({ ...one, id: `comment-${one.id}`, path: null, line: null })),
      ...(kind === "comment" ? [] : await host.reviewComments(repository, number)),
    ].filter(({ id, author }) => author.toLowerCase() !== own && !comments.knows(runId, id));
    const kept: typeof said = [];
    for (const one of said) if ((await findObstacle(one.author)) === undefined) kept.push(one);
    const refused = await findObstacle(notice.actor);
    const asked =
      kind === "review" ? action === "changes" : kept.some(({ body }) => body.trimStart().startsWith(AGAIN));
    return store.write((): Reaction => {
      const added = kept.filter((one) => comments.addFromHost(run, one));
      const detail = `Comments kept: ${added.length}.`;
      // Another attempt needs open comments. Comments on lines may have arrived before the review that asks for the
      // attempt.
      if (!asked || !comments.hasOpen(runId)) return { state: "done", detail, run_id: runId };
      if (refused !== undefined) return { state: "done", detail: `${detail} ${refused}`, run_id: runId };
      if (link.attempts >= LIMITS.codehostAttempts)
        return { state: "done", detail: `${detail} The run was started again often enough.`, run_id: runId };
      links.update(runId, { again: true });
      follow(runId);
      return { state: "done", detail: `${detail} Another attempt follows.`, run_id: runId };
    });
  };
}
