/**
 * Where outside text comes from and where it may spread, in one table. Outside text is text that no person of this
 * server wrote. Work that has read some is marked permanently with one of the sentences here (`sessions.outside`,
 * `runs.outside`), and what it leaves carries the mark until a person confirms it. The sentences are ours and contain
 * nothing of that text.
 */

/**
 * Whether a tool shows outside text.
 * - `never`: it shows what people, the repository or the agent itself wrote.
 * - `always`: what it shows is outside text.
 * - `reported`: it shows what other work left; the tool reports (`ToolResult.outside`) when that work was marked.
 * - `reaching`: a command line, which reads outside text when it names another machine's address.
 */
type Reads = "never" | "always" | "reported" | "reaching";

/** What a tool leaves that other work may read. `work`: other sessions of the same tree, which share the mark. */
type Leaves = "nothing" | "files" | "memory" | "skill" | "message" | "task" | "project" | "outputs" | "work";

interface OutsideRow {
  reads: Reads;
  leaves: Leaves;
}

const row = (reads: Reads, leaves: Leaves): OutsideRow => ({ reads, leaves });

/**
 * All tools that an agent's file can name, except those of tool servers. A test compares the names with the existing
 * tools.
 */
export const OUTSIDE_TOOLS: Readonly<Record<string, OutsideRow>> = {
  read: row("never", "nothing"),
  write: row("never", "files"),
  edit: row("never", "files"),
  ls: row("never", "nothing"),
  find: row("never", "nothing"),
  grep: row("never", "nothing"),
  bash: row("reaching", "files"),
  fetch_url: row("always", "nothing"),
  complete: row("never", "outputs"),
  fail: row("never", "outputs"),
  load_skill: row("reported", "nothing"),
  create_skill: row("never", "skill"),
  get_run_history: row("reported", "nothing"),
  remember: row("reported", "memory"),
  recall: row("reported", "nothing"),
  rate_memories: row("never", "nothing"),
  link_memory: row("never", "memory"),
  share_knowledge: row("never", "memory"),
  list_documents: row("always", "nothing"),
  search_documents: row("always", "nothing"),
  read_document: row("always", "nothing"),
  list_tasks: row("reported", "nothing"),
  list_my_tasks: row("reported", "nothing"),
  claim_task: row("reported", "nothing"),
  transition_task: row("reported", "task"),
  create_task: row("never", "task"),
  get_vision: row("reported", "nothing"),
  message_agent: row("never", "message"),
  answer_comment: row("never", "nothing"),
  spawn_executor: row("never", "work"),
  swarm_execute: row("never", "work"),
  update_context: row("never", "project"),
  finish_phase: row("never", "project"),
  code_graph_ask: row("never", "nothing"),
  code_graph_query: row("never", "nothing"),
  code_graph_context: row("never", "nothing"),
  code_graph_impact: row("never", "nothing"),
  code_graph_changes: row("never", "nothing"),
};

/** The tool that finds tools, which every agent has. It shows names and descriptions that a person has approved. */
export const TOOL_SEARCH = "tools";
const OF_TOOL_SEARCH: OutsideRow = row("never", "nothing");
/** Whatever a tool server answers is outside text. */
const OF_TOOL_SERVERS: OutsideRow = row("always", "nothing");

export function outsideRow({ name, group }: { name: string; group: string }): OutsideRow {
  if (group === "mcp") return OF_TOOL_SERVERS;
  return (name === TOOL_SEARCH ? OF_TOOL_SEARCH : OUTSIDE_TOOLS[name]) ?? OF_TOOL_SERVERS;
}

/** Why work is marked when outside text reached it by other ways than tools. */
export const OUTSIDE_SOURCES = {
  attachment: "A file was attached to it.",
  upload: "It works on a transcript that was uploaded.",
  codehost: "It was started from the code host.",
  review: "It was sent back with comments from the code host.",
  message: "It read a message of an agent that had read outside text.",
  memory: "It recalled an entry that nobody has confirmed.",
  skill: "It loaded a skill that nobody has confirmed.",
  task: "It read a task that was written after outside text was read.",
  run: "It read the results of a run that had read outside text.",
  project: "It read a project's description that nobody has confirmed.",
  command: "A command reached another machine.",
} as const;
export type OutsideSource = keyof typeof OUTSIDE_SOURCES;

/** @param name of a tool that always shows outside text. */
export const readByTool = (name: string): string => `It used ${name}, which shows outside text.`;

const ADDRESS = /\b(?:https?|ftps?|wss?|ssh|git|rsync):\/\/([^\s/"'`;|&)]+)|\bgit@[\w.-]+:/gi;
const OWN_HOST = /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/i;
const NAMES_OWN = /\b(?:localhost|127\.\d+\.\d+\.\d+)\b|\[::1\]/i;
/** Programs that fetch from other machines, at the beginning of a command. */
const FETCHES = /(?:^|[\s(`/])(?:curl|wget|ftp|sftp|scp|rsync|lynx|w3m|telnet|nc|ncat|ssh)(?=\s|$)/i;
/** Commands for which an address is only text. */
const WRITES_ABOUT =
  /^\s*(?:grep|rg|echo|printf|sed|awk|cat|find|ls|test|\[|git\s+(?:commit|log|grep|diff|show|tag))(?=\s|$)/;

/**
 * Whether a command line reads from another machine, as far as its text says. An agent that has not read outside text
 * yet has no reason to hide it, and afterwards its work is marked anyway.
 */
export function reachesOut(line: string): boolean {
  return line.split(/[;&|\n]+/).some((command) => {
    if (FETCHES.test(command) && !NAMES_OWN.test(command)) return true;
    const hosts = [...command.matchAll(ADDRESS)].map(([, host]) => host);
    return hosts.some((host) => host === undefined || !OWN_HOST.test(host)) && !WRITES_ABOUT.test(command);
  });
}
