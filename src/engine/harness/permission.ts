/**
 * Decides what an external agent may do when it asks: by its agent's list of tools, then by the rules, and then, if a
 * rule asks, by a person's answer.
 */
import { createHash } from "node:crypto";
import { isObject, textIn } from "../../core/is-object.ts";
import type { ToolKind } from "../../core/permission-rule.ts";
import type { Turn } from "../calls.ts";
import { ownToolName } from "../gateway/scripted-tools.ts";
import { decideAll, type PermissionRequest } from "../permission/decide.ts";
import { type Question, subjectOf, waitingWords } from "../permission/permit.ts";
import type { CallKind, CallUpdate, PermissionOption } from "./port.ts";

/**
 * For each kind of call, the built-in tools that do the same. An agent's tool list is checked for the first of them;
 * its permission rules are checked for each.
 */
const SAME_AS: Partial<Record<CallKind, readonly [string, ...string[]]>> = {
  read: ["read"],
  edit: ["edit", "write"],
  delete: ["bash"],
  move: ["bash"],
  search: ["grep", "find"],
  execute: ["bash"],
  fetch: ["fetch_url"],
};
const ON_FILES: ReadonlySet<ToolKind> = new Set(["read", "edit", "delete", "move"]);

type Answer = "allow" | "deny";

export type PermissionDesk = ReturnType<typeof createPermissionDesk>;

interface AskedAt {
  /** Names of the tools that the agent may use now. */
  tools: ReadonlySet<string>;
  /** The workspace's path as the program sees it. */
  cwd: string;
  /** Aborted when the program can no longer be answered. */
  signal: AbortSignal;
}

/** Decides for one execution. */
export function createPermissionDesk(turn: Pick<Turn, "execution" | "ports" | "setAside">) {
  const { execution, ports, setAside } = turn;
  /**
   * Ids of questions whose answer the program never heard because it ended first. They are used again when the program
   * repeats the question, so the person is not asked twice.
   */
  const unheard = new Set<string>();
  /** What the execution was waiting for when the server was stopped. */
  let { waitsFor } = execution;
  let asked = 0;
  let tail: Promise<unknown> = Promise.resolve();

  async function ask(question: Question, signal: AbortSignal): Promise<Answer> {
    const key = keyOf(question);
    const words = waitingWords(execution, question);
    if (waitsFor === ports.masking.text(words)) {
      const last = ports.permissions.lastAsked(execution, key);
      if (last !== undefined) unheard.add(last);
      waitsFor = undefined;
    }
    const callId = [...unheard].find((id) => id.startsWith(key)) ?? `${key}${ports.clock.now()}.${++asked}`;
    unheard.add(callId);
    for (;;) {
      signal.throwIfAborted();
      const permit = ports.permissions.ask(execution, callId, question);
      if (permit.state === "waiting") {
        const answered = ports.permissions.waitForAnswer(execution, callId, signal);
        await setAside(words, answered);
        continue;
      }
      unheard.delete(callId);
      return permit.state === "allowed" ? "allow" : "deny";
    }
  }

  return {
    /**
     * Decides on one call. Waits while a person is asked.
     * @returns undefined when the wait was aborted.
     */
    async decide(call: CallUpdate, { tools, cwd, signal }: AskedAt): Promise<Answer | undefined> {
      const own = ownToolName(call.name ?? call.title ?? "");
      // Skep applies the rules itself when this tool is called.
      if (own !== undefined) return tools.has(own) ? "allow" : "deny";
      const same = SAME_AS[call.kind ?? "other"];
      if (same !== undefined && !tools.has(same[0])) return "deny";
      const requests = requestsOf(call, cwd);
      const decision = decideAll(ports.permissions.rulesOf(execution), ...requests);
      if (decision.effect === "deny") return "deny";
      if (decision.effect === "allow")
        return decision.rule || same !== undefined || call.kind === "think" ? "allow" : "deny";
      const [request] = requests;
      const question = { ...decision, request, subject: subjectOf(request) || (call.title ?? "") };
      // Asks one question at a time, so that a program cannot flood a person's list.
      const answer = tail.then(() => ask(question, signal));
      tail = answer.catch(() => {});
      return answer.catch((error) => {
        if (!signal.aborted) ports.log.error({ err: error, execution: execution.id }, "a permission is not decided");
        return undefined;
      });
    },
  };
}

/** Identifies a question within its session by what it asks, because programs choose the ids of their calls freely. */
const keyOf = ({ request, subject }: Question): string =>
  `acp_${createHash("sha256")
    .update(JSON.stringify([request.tool, request.kind, subject]))
    .digest("hex")}_`;

/**
 * Describes the call as far as the program has said what it does. There is one request for each built-in tool that does
 * the same.
 */
export function requestsOf(call: CallUpdate, cwd: string): [PermissionRequest, ...PermissionRequest[]] {
  const { kind: said = "other", title = "", name = title, input } = call;
  const kind: ToolKind = said === "switch_mode" ? "other" : said;
  const command = kind === "execute" ? commandIn(input) : undefined;
  const address = textIn(input, "url");
  const paths = pathsOf(call).map((path) => (path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path));
  const isUntold =
    (kind === "execute" && command === undefined) ||
    (kind === "fetch" && address === undefined) ||
    (ON_FILES.has(kind) && paths.length === 0);
  const [first, ...others] = SAME_AS[said] ?? [name.slice(0, NAME_CHARACTERS)];
  const request = (tool: string): PermissionRequest => ({ tool, kind, paths, command, address, isUntold });
  return [request(first), ...others.map(request)];
}

const NAME_CHARACTERS = 128;

const PATHS = ["path", "file_path", "filePath", "filepath", "abs_path", "source", "destination"];

function pathsOf({ input, paths = [], changed = [] }: CallUpdate): string[] {
  const named = PATHS.flatMap((member) => textIn(input, member) ?? []);
  return [...new Set([...named, ...paths, ...changed])];
}

/** The command line of a call: a text as it is, or a list of words quoted and joined. */
function commandIn(input: unknown): string | undefined {
  if (!isObject(input)) return undefined;
  const given = input["command"] ?? input["cmd"];
  if (typeof given === "string") return given;
  const isWords = Array.isArray(given) && given.length > 0 && given.every((word) => typeof word === "string");
  return isWords ? given.map(quoteWord).join(" ") : undefined;
}

const quoteWord = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Picks the program's option for this answer; an option for this call alone is preferred.
 * @returns undefined when no option fits: the request is then answered as cancelled, never as allowed.
 */
export function optionFor(answer: Answer, options: readonly PermissionOption[]): string | undefined {
  const kinds =
    answer === "allow" ? (["allow_once", "allow_always"] as const) : (["reject_once", "reject_always"] as const);
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind);
    if (found) return found.id;
  }
  return undefined;
}
