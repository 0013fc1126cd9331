/**
 * Commands that people send through a bot: `/run PIPELINE @PROJECT TASK` and `/stop`. A command has the rights of the
 * person who is linked to the chat. Before a run starts, the bot asks for confirmation; the button works once, only in
 * that chat and only for that person.
 */
import { randomBytes } from "node:crypto";
import type { MessageButton } from "../../adapter/chat/messenger.ts";
import { toTimestamp } from "../../core/clock.ts";
import { isProblem, notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { assertRole } from "../../core/ownership.ts";
import { isRunEnd, RUN_STATUSES } from "../../core/run-states.ts";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import type { Caller } from "../../http/caller.ts";
import { notificationChannels } from "../../store/tables/notification-channels.ts";
import type { Core } from "../feature.ts";
import type { RunsService } from "../runs/service.ts";
import { type CommandRow, createCommandRows } from "./command-rows.ts";
import { digestOf, type LinkRow } from "./links.ts";
import type { Answer, Given } from "./questions.ts";
import type { ChannelRow } from "./service.ts";

interface Command {
  verb: "run" | "stop";
  words: string;
}

/** The reply to a person: a text, with two buttons if it asks something. */
export interface Said {
  text: string;
  buttons: readonly MessageButton[];
  /** Id of the command that waits for a button. */
  waits?: string;
  /** Id of the run that was stopped. */
  runId?: string;
}

interface CommandsDeps extends Pick<Core, "store" | "clock" | "audit"> {
  runs: Pick<RunsService, "create" | "cancel"> & { rows: Pick<RunsService["rows"], "page"> };
  projects: {
    byName(name: string, asker: Caller): { id: string } | undefined;
    find(id: string): { name: string } | undefined;
  };
  /** @throws Problem 404 unknown pipeline, 422 invalid pipeline. */
  pipelineOf(id: string): PipelineDefinition;
  /** Budget for runs whose pipeline sets none, USD; null: no limit. */
  defaultBudgetUsd(): number | null;
  /** The caller for the channel's owner; undefined when the owner may not work any more. */
  callerOf(channel: ChannelRow): Caller | undefined;
  /** Masks the values of secrets. */
  mask(text: string): string;
  pageOf(runId: string): string | null;
}

const TASK_CHARACTERS = 4_000;
const SHOWN_CHARACTERS = 600;
const TITLE_CHARACTERS = 80;
const LISTED = 6;
/** How many characters of the end of a run's id are needed to name the run. */
const LEAST_SIGNS = 4;
const TOKEN_BYTES = 24;
const LIVE = RUN_STATUSES.filter((status) => !isRunEnd(status));
const SWITCHED_OFF = "This channel is switched off.";
const LATE = "It does not wait for an answer any more.";

export const COMMANDS_HELP =
  "Start work with “/run PIPELINE @PROJECT what to do”, and end it with “/stop”. Where the app takes the slash for itself, write an exclamation mark instead.";
const RUN_HELP = `Name the pipeline and what to do. ${COMMANDS_HELP}`;

/** Reads the command at the start of a text. In groups, Telegram appends the bot's name to it. */
export function readCommand(text: string): Command | undefined {
  const found = /^[/!](run|stop)(?:@\w{1,64})?(?![^\s])/i.exec(text.trimStart());
  if (!found) return undefined;
  const verb = found[1]?.toLowerCase() === "run" ? "run" : "stop";
  return { verb, words: text.trimStart().slice(found[0].length).trim() };
}

/**
 * Reads the words of `/run`, such as `feature @shop Add a cart`. A project name with spaces must be in quotation marks.
 */
export function readRun(words: string): { pipeline: string; project: string | undefined; task: string } | undefined {
  const found = /^(\S{1,64})\s+(?:@(?:["“]([^"”]{1,200})["”]|(\S{1,200}))\s)?/.exec(`${words} `);
  if (!found?.[1]) return undefined;
  const task = words.slice(found[0].length).trim();
  return task === "" ? undefined : { pipeline: found[1], project: found[2] ?? found[3], task };
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const titleOf = (task: string): string => cut(task.split("\n")[0] ?? "", TITLE_CHARACTERS);
const newToken = (): string => randomBytes(TOKEN_BYTES).toString("base64url");
const toSaid = (text: string): Said => ({ text, buttons: [] });

export type Commands = ReturnType<typeof createCommands>;

export function createCommands(deps: CommandsDeps) {
  const { store, clock, audit, runs, projects, callerOf } = deps;
  const rows = createCommandRows(store, clock);
  const { insert, close } = rows;
  const channels = store.rows(notificationChannels);

  const record = ({ id, owner_id }: ChannelRow, verb: Command["verb"], subject: string): void =>
    audit({ action: "phone_command.given", actor: owner_id ?? "local", subject, data: { channel_id: id, verb } });
  /** @throws Problem. */
  function askToRun(channel: ChannelRow, caller: Caller, words: string): Said {
    const read = readRun(words);
    if (!read) return toSaid(RUN_HELP);
    if (read.task.length > TASK_CHARACTERS)
      return toSaid(`A task from here has at most ${TASK_CHARACTERS} characters. Write it in the dashboard.`);
    const definition = deps.pipelineOf(read.pipeline);
    const project = read.project === undefined ? channel.project_id : projects.byName(read.project, caller)?.id;
    if (project === undefined) throw notFound(`project named ${cut(read.project ?? "", TITLE_CHARACTERS)}`);
    assertRole(caller, project, "contributor");
    const yes = newToken();
    const no = newToken();
    const waits = insert({
      channel_id: channel.id,
      verb: "run",
      pipeline_id: definition.id,
      project_id: project,
      task: read.task,
      yes_hash: digestOf(yes),
      no_hash: digestOf(no),
    });
    const budget = definition.defaults?.budget_usd ?? deps.defaultBudgetUsd();
    const place = project === null ? "without a project" : `in ${projects.find(project)?.name ?? project}`;
    const cost = budget === null ? "It has no budget" : `It may cost up to $${budget}`;
    const text = `Start ${definition.id} ${place}? ${cost}.\n\n${cut(deps.mask(read.task), SHOWN_CHARACTERS)}`;
    return {
      text,
      waits,
      buttons: [
        { label: "Start", answer: "yes", token: yes },
        { label: "Leave it", answer: "no", token: no },
      ],
    };
  }

  /** @param runId of the question to which the person replied. @throws Problem. */
  function stop(channel: ChannelRow, caller: Caller, words: string, runId: string | undefined): Said {
    const word = words.split(/\s+/, 1)[0]?.toLowerCase() ?? "";
    const live = runs.rows.page({ ownOf: caller, statuses: LIVE }, null, LIMITS.listMax);
    const named = word === "" ? runId : word;
    const fits =
      named === undefined
        ? live
        : live.filter(({ id }) => id === named || (named.length >= LEAST_SIGNS && id.endsWith(named)));
    const [one, another] = fits;
    if (!one) return toSaid(live.length === 0 ? "No run of yours is at work." : `No run at work is called ${named}.`);
    if (another) {
      const lines = fits.slice(0, LISTED).map(({ id, task_description: task }) => `…${id.slice(-6)}  ${titleOf(task)}`);
      const more = fits.length > LISTED ? [`and ${fits.length - LISTED} more`] : [];
      return toSaid(["Which one? Send /stop and the end of its id:", ...lines, ...more].map(deps.mask).join("\n"));
    }
    runs.cancel(one.id, caller);
    record(channel, "stop", one.id);
    return { ...toSaid(`Stopped: ${deps.mask(titleOf(one.task_description))}`), runId: one.id };
  }

  return {
    /**
     * Carries out a command from the chat that these links belong to. Call in a transaction.
     * @param runId of the message to which the command replies. @returns undefined when there is no reply.
     */
    hear(links: readonly LinkRow[], { verb, words }: Command, runId: string | undefined): Said | undefined {
      const known = links.flatMap(({ channel_id }) => channels.find({ id: channel_id }) ?? []);
      const channel = known.find(({ enabled }) => enabled);
      const caller = channel && callerOf(channel);
      if (!channel || !caller) return toSaid(SWITCHED_OFF);
      const count = rows.countOfHour(channel.id);
      // Only the command that reaches the limit gets a reply; later ones in the hour get none.
      if (count > LIMITS.phoneCommandsPerHour) return undefined;
      if (count === LIMITS.phoneCommandsPerHour) {
        close(insert({ channel_id: channel.id, verb }), "refused");
        return toSaid(`There were ${count} commands in an hour from here. Wait, or use the dashboard.`);
      }
      try {
        const said = store.write(() =>
          verb === "run" ? askToRun(channel, caller, words) : stop(channel, caller, words, runId),
        );
        // A command that does not wait is stored too, so that it counts towards the hourly limit.
        if (said.waits === undefined) close(insert({ channel_id: channel.id, verb }), "answered", said.runId);
        return said;
      } catch (error) {
        if (!isProblem(error)) throw error;
        close(insert({ channel_id: channel.id, verb }), error.code);
        return toSaid(error.detail);
      }
    },
    noteMessage: rows.noteMessage,
    ofToken: rows.ofToken,
    at: rows.at,
    prune: rows.prune,
    /** Starts the run or discards the command. Call in a transaction, after the person has been verified. */
    give(command: CommandRow, answer: Answer): Given {
      const refuse = (outcome: string): Given => ({ outcome, isTaken: false });
      const channel = channels.find({ id: command.channel_id });
      const caller = channel && callerOf(channel);
      if (!channel?.enabled || !caller) return refuse(SWITCHED_OFF);
      if (command.outcome !== null) return refuse(LATE);
      if (command.expires_at <= toTimestamp(clock.now()))
        return refuse("The time to start it is over. Send the command again.");
      if (answer === "no") {
        close(command.id, "Left.");
        return { outcome: "Nothing was started.", isTaken: true };
      }
      try {
        const project = command.project_id === null ? undefined : projects.find(command.project_id);
        if (command.project_id !== null && !project) throw notFound("project");
        const input = { pipeline_id: command.pipeline_id ?? "", task_description: command.task };
        const run = store.write(() => runs.create({ ...input, project_name: project?.name ?? null }, caller));
        close(command.id, "Started.", run.id);
        record(channel, "run", run.id);
        return { outcome: `Started: ${deps.pageOf(run.id) ?? run.id}`, isTaken: true };
      } catch (error) {
        if (!isProblem(error)) throw error;
        close(command.id, error.code);
        return refuse(error.detail);
      }
    },
  };
}
