/** Starts a run for an issue, a comment or a pull request, when a rule says so and the host confirms it. */
import type { CodeHost, HostIssue } from "../../adapter/codehost/code-host.ts";
import type { Notice } from "../../adapter/codehost/webhook.ts";
import { conflict } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { ABOUT_QUOTES, oneLine, quotedOutside } from "../../core/outside-text.ts";
import { isRunEnd, type RunStatus } from "../../core/run-states.ts";
import { type Caller, LOCAL_ADMIN } from "../../http/caller.ts";
import type { ProjectAccess } from "../../store/project-access.ts";
import type { Core } from "../feature.ts";
import { obstacleOf } from "./actors.ts";
import type { CodeHostConnection } from "./connection.ts";
import type { LinkRow, Links } from "./links.ts";
import type { Trial, TrialRequest } from "./model.ts";
import type { Reaction } from "./react.ts";
import type { RuleRow, Rules } from "./rules.ts";

/** A run to start. */
export interface Work {
  projectId: string;
  pipelineId: string;
  /** Title of the task. */
  title: string;
  /** What the model is told to do. */
  description: string;
  /** Whether the run gets a task on the board. */
  asTask: boolean;
  caller: Caller;
}

interface StartDeps extends Pick<Core, "store" | "masking"> {
  access: Pick<ProjectAccess, "within">;
  connection: Pick<CodeHostConnection, "openHost" | "loadAccount">;
  rules: Rules;
  links: Links;
  /** Starts the run. Call inside a transaction. @returns the run's id. */
  begin(work: Work): string;
  /** Queues the update of the host about the run. Call inside a transaction. */
  follow(runId: string): void;
}

/** The issue or pull request, as the host has it now. */
interface Subject extends HostIssue {
  fork: boolean;
}

interface Found {
  host: CodeHost;
  notice: Notice;
  subject: Subject;
  /** The comment that asks for the run. */
  request: { author: string; body: string } | undefined;
}

/** The facts against which a rule is checked. */
interface Asked extends Pick<Found, "host" | "subject"> {
  repository: string;
  actor: string;
  /** Text of the comment. */
  comment: string | undefined;
}

const ignore = (detail: string): Reaction => ({ state: "ignored", detail });

function eventOf({ kind, action }: Notice): RuleRow["event"] | undefined {
  const labeled = action === "labeled" || action === "label_updated";
  if (kind === "comment") return action === "created" ? "issue_comment" : undefined;
  if (kind === "issue") return labeled ? "issue_labeled" : action === "opened" ? "issue_opened" : undefined;
  if (kind !== "pull_request") return undefined;
  return labeled ? "pull_request_labeled" : action === "opened" ? "pull_request_opened" : undefined;
}

const sameWord = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

export function createStart(deps: StartDeps) {
  const { store, masking, connection, rules, links } = deps;
  const statusOf = (runId: string): RunStatus | undefined =>
    store.statement<{ status: RunStatus }>("SELECT status FROM runs WHERE id = ?").get([runId])?.status;
  /** The run that this rule started for the issue or pull request, if it has not ended or its pull request is open. */
  const atWork = (rule: RuleRow, repository: string, number: number): LinkRow | undefined =>
    links.startedFrom(repository, number).find((row) => {
      if (row.rule_id !== rule.id || row.pull_state === "merged" || row.pull_state === "closed") return false;
      const status = statusOf(row.run_id);
      return status !== undefined && (!isRunEnd(status) || (status === "succeeded" && row.pull_state === "open"));
    });
  /** @throws Problem 409 when the rule's user may not work any more. */
  const callerOf = ({ user_id, project_id }: RuleRow): Caller => {
    if (user_id === null) return LOCAL_ADMIN;
    const user = store.statement<{ active: number }>("SELECT active FROM users WHERE id = ?").get([user_id]);
    if (!user?.active) throw conflict("The rule's user is switched off. Create the rule again.");
    return { kind: "user", admin: false, userId: user_id, projects: deps.access.within(project_id) };
  };
  async function subjectOf(
    host: CodeHost,
    { repository, number = 0, kind }: Pick<Notice, "repository" | "number" | "kind">,
  ): Promise<Subject> {
    const issue = kind === "pull_request" ? undefined : await host.issue(repository, number);
    if (issue && !issue.isPull) return { ...issue, fork: false };
    return { ...(await host.pull(repository, number)), isPull: true };
  }

  async function begin(rule: RuleRow, { host, notice, subject, request }: Found): Promise<Reaction> {
    const { repository, number = 0 } = notice;
    const diff = subject.isPull ? await host.pullDiff(repository, number, LIMITS.pullDiffCharacters) : undefined;
    const what = subject.isPull ? "pull request" : "issue";
    const source = `${what} #${number} of ${repository}`;
    const quote = (author: string, text: string, from = source) =>
      quotedOutside({ source: from, author, text }, masking.text, LIMITS.outsideTextCharacters);
    const description = [
      `${subject.isPull ? "Look at" : "Resolve"} ${source} (${subject.url}).`,
      ABOUT_QUOTES,
      quote(subject.author, `${subject.title}\n\n${subject.body}`),
      ...(request ? [quote(request.author, request.body, `comment on ${source}`)] : []),
      ...(diff === undefined ? [] : [diffOf(source, subject.author, diff)]),
    ].join("\n\n");
    const title = `${subject.isPull ? "Pull request" : "Issue"} #${number} of ${repository}: “${oneLine(masking.text(subject.title), 200)}”`;
    return store.write((): Reaction => {
      const known = atWork(rule, repository, number);
      if (known) return { state: "done", detail: "A run is at work on it already.", run_id: known.run_id };
      const run_id = deps.begin({
        projectId: rule.project_id,
        pipelineId: rule.pipeline_id,
        title,
        description,
        asTask: !subject.isPull,
        caller: callerOf(rule),
      });
      const wants_pull = rule.pull_request && !subject.isPull;
      // A run may also work on a pull request from a fork; nothing that it makes is pushed.
      const row = {
        run_id,
        repository,
        rule_id: rule.id,
        number,
        wants_pull,
        read_only: subject.isPull && subject.fork,
      };
      links.insert({ ...row, pull_title: `${oneLine(masking.text(subject.title), 180)} (#${number})` });
      deps.follow(run_id);
      return { state: "done", detail: `The rule ${rule.name} started a run.`, run_id };
    });
  }
  /** Quotes a diff, which is also text of its author. It is shown unrendered, so nothing in it can be hidden. */
  const diffOf = (source: string, author: string, diff: string): string =>
    quotedOutside(
      { source: `changes of ${source}`, author, text: `\`\`\`diff\n${diff.replaceAll("```", "` ` `")}\n\`\`\`` },
      masking.text,
      LIMITS.pullDiffCharacters,
    );

  /** @returns why the rule does not start a run; undefined when it does. */
  async function objectionOf(rule: RuleRow, { host, repository, subject, actor, comment }: Asked) {
    const { label, command } = rule;
    if (label && !subject.labels.some((one) => sameWord(one, label))) return `It has no label ${label}.`;
    if (command && !startsWith(comment ?? "", command)) return `The comment does not begin with ${command}.`;
    return obstacleOf(host, repository, actor, rule);
  }

  /** Enabled rules that are about the notice. */
  function rulesFor(notice: Notice, projectIds: readonly string[]): RuleRow[] {
    const event = eventOf(notice);
    if (event === undefined || notice.number === undefined) return [];
    return rules
      .matching(notice.repository, event)
      .filter((rule) => projectIds.includes(rule.project_id))
      .filter(({ label }) => !label || notice.label === undefined || sameWord(label, notice.label));
  }

  async function start(notice: Notice, projectIds: readonly string[]): Promise<Reaction> {
    const { repository } = notice;
    const event = eventOf(notice);
    const found = rulesFor(notice, projectIds);
    if (event === undefined || found.length === 0) return ignore("No rule is about this.");
    const host = await connection.openHost();
    const subject = await subjectOf(host, notice);
    if (!subject.open) return ignore("It is closed.");
    const request = event === "issue_comment" ? await host.comment(repository, notice.comment_id ?? "0") : undefined;
    const actor = request?.author ?? (event.endsWith("_opened") ? subject.author : notice.actor);
    if (sameWord(actor, (await connection.loadAccount()).login)) return ignore("Skep's own account did it.");
    let why = "No rule is about this.";
    for (const rule of found) {
      const objection = await objectionOf(rule, { host, repository, subject, actor, comment: request?.body });
      if (objection === undefined) return begin(rule, { host, notice, subject, request });
      why = objection;
    }
    return ignore(why);
  }

  async function attempt(rule: RuleRow, { number, actor, comment }: TrialRequest): Promise<Trial> {
    const { repository, event } = rule;
    const host = await connection.openHost();
    const pull = event.startsWith("pull_request");
    const subject = await subjectOf(host, { repository, number, kind: pull ? "pull_request" : "issue" });
    const by = actor ?? subject.author;
    const findObjection = async (): Promise<string | undefined> => {
      if (!subject.open) return "It is closed.";
      if (subject.isPull && (event === "issue_opened" || event === "issue_labeled"))
        return `#${number} is a pull request, and the rule is about issues.`;
      if (sameWord(by, (await connection.loadAccount()).login)) return "Skep itself starts nothing.";
      return objectionOf(rule, { host, repository, subject, actor: by, comment });
    };
    const known = atWork(rule, repository, number);
    const why = (await findObjection()) ?? (known && "A run is at work on it already.");
    return {
      starts: why === undefined,
      run_id: known?.run_id ?? null,
      actor: by,
      url: subject.url,
      title: oneLine(masking.text(subject.title), 200),
      detail: why ?? `A run of ${rule.pipeline_id} would start${rule.enabled ? "." : " if the rule were switched on."}`,
    };
  }
  const isWanted = (notice: Notice, projectIds: readonly string[]) => rulesFor(notice, projectIds).length > 0;
  return { start, isWanted, attempt };
}

const startsWith = (body: string, command: string): boolean => {
  const [first = ""] = body.trimStart().split(/\s/, 1);
  return sameWord(first, command);
};
