/**
 * Brings the code host to the state of a run: pushes its branch, opens its pull request, and updates the comment on its
 * issue. It first looks at what exists, so it can run again at any time, after a crash or after the host was down.
 */
import { Type as t } from "@sinclair/typebox";
import type { CodeHost } from "../../adapter/codehost/code-host.ts";
import { DAY_MS } from "../../core/clock.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import { attemptsOver, defineJob } from "../../core/jobs.ts";
import { LIMITS } from "../../core/limits.ts";
import { oneLine } from "../../core/outside-text.ts";
import { isRunEnd } from "../../core/run-states.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import type { ProjectAccess } from "../../store/project-access.ts";
import type { Core } from "../feature.ts";
import type { Comments } from "../reviews/comments.ts";
import type { RunRow } from "../runs/store.ts";
import type { CodeHostConnection } from "./connection.ts";
import type { LinkRow, Links } from "./links.ts";

interface SyncDeps extends Pick<Core, "store" | "masking"> {
  access: Pick<ProjectAccess, "within">;
  connection: Pick<CodeHostConnection, "openHost" | "loadAccount">;
  links: Links;
  comments: Pick<Comments, "hasOpen" | "sendBack">;
  runOf(runId: string): RunRow | undefined;
  /** Last commit of the run's branch; null when the run changed nothing. @throws Problem. */
  changedTo(run: RunRow): Promise<string | null>;
  push(projectId: string, branch: string): Promise<void>;
  defaultBranch(projectId: string): string | null;
  /** Address of the run's page. */
  pageOf(runId: string): string;
}

/** Attempts of a job that needs the code host. A host that is down for a day is waited for. */
export const HOST_ATTEMPTS = attemptsOver(DAY_MS);
const PARALLEL = 4;
const OUTPUT_CHARACTERS = 10_000;

export function defineSync(deps: SyncDeps) {
  const { links } = deps;
  return defineJob(
    "codehost_sync",
    t.Object({ run_id: t.String() }),
    async ({ run_id }) => {
      const link = links.find(run_id);
      if (!link) return undefined;
      try {
        await sync(deps, link);
        return undefined;
      } catch (error) {
        const code = isProblem(error) ? error.code : "internal";
        links.update(run_id, { error: { code, message: messageOf(error) } });
        throw error;
      }
    },
    {
      parallel: PARALLEL,
      attempts: HOST_ATTEMPTS,
      outward: true,
      exclusive: ({ run_id }) => run_id,
      onEnd({ payload: { run_id }, state, error }) {
        if (!links.find(run_id)) return;
        if (state === "succeeded") links.update(run_id, { state: "done", error: null });
        else links.update(run_id, { state: "failed", error: error ?? links.find(run_id)?.error ?? null }, "failed");
      },
    },
  );
}

async function sync(deps: SyncDeps, first: LinkRow): Promise<void> {
  const { links } = deps;
  const run = deps.runOf(first.run_id);
  if (!run) return;
  if (startAgain(deps, first, run)) return;
  const host = await deps.connection.openHost();
  const changed = await publish(deps, host, first, run);
  const link = links.find(first.run_id)!;
  if (link.number !== null) await comment(deps, host, link, { run, changed });
}

/** Starts another attempt of the run if a review asked for one. @returns true when the run is at work again. */
function startAgain({ store, access, links, comments }: SyncDeps, { run_id }: LinkRow, run: RunRow): boolean {
  if (!isRunEnd(run.status)) return false;
  return store.write(() => {
    const link = links.find(run_id)!;
    if (!link.again) return false;
    const over = link.pull_state === "merged" || run.merged_commit !== null;
    // Nothing is left to do when a person has already sent the run back with these comments.
    const wanted = !over && link.attempts < LIMITS.codehostAttempts && comments.hasOpen(run_id);
    links.update(run_id, { again: false, attempts: link.attempts + (wanted ? 1 : 0) });
    if (!wanted) return false;
    const owner: Caller = run.created_by
      ? { kind: "user", admin: false, userId: run.created_by, projects: access.within(run.project_id) }
      : LOCAL_ADMIN;
    comments.sendBack(run_id, {}, owner);
    return true;
  });
}

/** Pushes the branch and opens the pull request. @returns false when the run changed nothing. */
async function publish(deps: SyncDeps, host: CodeHost, link: LinkRow, run: RunRow): Promise<boolean> {
  const { links } = deps;
  const { run_id, repository } = link;
  if (run.status !== "succeeded" || link.read_only || run.project_id === null || run.branch === null) return true;
  if (!link.wants_pull && link.pull_state !== "open") return true;
  const commit = await deps.changedTo(run);
  if (commit === null) {
    links.update(run_id, { wants_pull: false });
    return false;
  }
  if (commit !== link.pushed_commit) {
    await deps.push(run.project_id, run.branch);
    links.update(run_id, { pushed_commit: commit }, "pushed");
  }
  if (link.pull_number !== null) return true;
  const base =
    link.pull_base ?? deps.defaultBranch(run.project_id) ?? (await host.repository(repository)).default_branch;
  const title = link.pull_title ?? oneLine(run.task_description.split("\n")[0] ?? "", 72);
  const closes = link.number === null ? "" : `Closes #${link.number}.\n\n`;
  const body = `${link.pull_body ? `${link.pull_body}\n\n` : ""}${closes}Made by ${deps.pageOf(run_id)}${picturesOf(deps, run_id)}`;
  const masked = { title: deps.masking.text(title), body: deps.masking.text(body) };
  const pull = await host.openPull(repository, { ...masked, head: run.branch, base });
  const place = { pull_number: pull.number, pull_url: pull.url, pull_state: "open", wants_pull: false } as const;
  links.update(run_id, place, "opened");
  return true;
}

/** Names the screenshots on the run's page. They are not uploaded, because access to them is checked on that page. */
function picturesOf({ store }: SyncDeps, runId: string): string {
  const paths = store
    .statement<string>("SELECT DISTINCT path FROM screenshots WHERE run_id = ? ORDER BY path LIMIT 10")
    .pluck()
    .all([runId]);
  if (paths.length === 0) return "";
  return `, with screenshots of ${paths.map((path) => `\`${path.replaceAll("`", "")}\``).join(", ")}`;
}

/** Writes one comment per run and updates it as the run progresses. */
async function comment(
  deps: SyncDeps,
  host: CodeHost,
  link: LinkRow,
  { run, changed }: { run: RunRow; changed: boolean },
): Promise<void> {
  const { links, connection } = deps;
  const { run_id, repository, number } = link;
  const mark = `<!-- ${run_id} -->`;
  const text = `${mark}\n${deps.masking.text(formatComment(deps, link, { run, changed }))}`;
  if (text === link.comment_text || number === null) return;
  let id = link.comment_id;
  if (id === null) {
    // A comment that was written before a crash is found again by its mark.
    const own = (await connection.loadAccount()).login.toLowerCase();
    const mine = (await host.comments(repository, number)).find(
      ({ author, body }) => author.toLowerCase() === own && body.startsWith(mark),
    );
    id = mine?.id ?? null;
  }
  if (id === null) id = await host.say(repository, number, text);
  else await host.edit(repository, id, text);
  links.update(run_id, { comment_id: id, comment_text: text });
}

function formatComment(deps: SyncDeps, link: LinkRow, { run, changed }: { run: RunRow; changed: boolean }): string {
  const page = `[${run.id}](${deps.pageOf(run.id)})`;
  const attempt = link.attempts > 0 ? ` (attempt ${link.attempts + 1})` : "";
  if (run.status === "failed") return `The run ${page} has failed${attempt}: ${quoteLines(run.error?.message ?? "")}`;
  if (run.status === "cancelled") return `The run ${page} was cancelled.`;
  if (run.status === "waiting") return `The run ${page} waits for a person${attempt}.`;
  if (run.status !== "succeeded") return `The run ${page} is at work on this${attempt}.`;
  if (link.pull_number !== null) return `The run ${page} has succeeded${attempt}. Its work: #${link.pull_number}`;
  const outputs = Object.entries(run.outputs)
    .map(([name, value]) => `**${name}**\n\n${quoteLines(typeof value === "string" ? value : JSON.stringify(value))}`)
    .join("\n\n");
  const nothing = changed ? "" : " It changed no file, so there is no pull request.";
  return `The run ${page} has succeeded${attempt}.${nothing}\n\n${outputs}`.slice(0, OUTPUT_CHARACTERS).trim();
}

/** Quotes text that a model wrote, so that no line of it acts as a command and no mention notifies anybody. */
const quoteLines = (text: string): string =>
  text
    .replaceAll("@", "@\u200b")
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
