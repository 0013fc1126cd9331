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

const toRow = (reads: Reads, leaves: Leaves): OutsideRow => ({ reads, leaves });

/**
 * All tools that an agent's file can name, except those of tool servers. A test compares the names with the existing
 * tools.
 */
export const OUTSIDE_TOOLS: Readonly<Record<string, OutsideRow>> = {
  read: toRow("never", "nothing"),
  write: toRow("never", "files"),
  edit: toRow("never", "files"),
  ls: toRow("never", "nothing"),
  find: toRow("never", "nothing"),
  grep: toRow("never", "nothing"),
  bash: toRow("reaching", "files"),
  fetch_url: toRow("always", "nothing"),
  complete: toRow("never", "outputs"),
  fail: toRow("never", "outputs"),
  load_skill: toRow("reported", "nothing"),
  create_skill: toRow("never", "skill"),
  get_run_history: toRow("reported", "nothing"),
  remember: toRow("reported", "memory"),
  recall: toRow("reported", "nothing"),
  rate_memories: toRow("never", "nothing"),
  link_memory: toRow("never", "memory"),
  share_knowledge: toRow("never", "memory"),
  list_documents: toRow("always", "nothing"),
  search_documents: toRow("always", "nothing"),
  read_document: toRow("always", "nothing"),
  list_tasks: toRow("reported", "nothing"),
  list_my_tasks: toRow("reported", "nothing"),
  claim_task: toRow("reported", "nothing"),
  transition_task: toRow("reported", "task"),
  create_task: toRow("never", "task"),
  get_vision: toRow("reported", "nothing"),
  message_agent: toRow("never", "message"),
  answer_comment: toRow("never", "nothing"),
  spawn_executor: toRow("never", "work"),
  swarm_execute: toRow("never", "work"),
  update_context: toRow("never", "project"),
  finish_phase: toRow("never", "project"),
  code_graph_ask: toRow("never", "nothing"),
  code_graph_query: toRow("never", "nothing"),
  code_graph_context: toRow("never", "nothing"),
  code_graph_impact: toRow("never", "nothing"),
  code_graph_changes: toRow("never", "nothing"),
};

/** The tool that finds tools, which every agent has. It shows names and descriptions that a person has approved. */
export const TOOL_SEARCH = "tools";
const OF_TOOL_SEARCH: OutsideRow = toRow("never", "nothing");
/** Whatever a tool server answers is outside text. */
const OF_TOOL_SERVERS: OutsideRow = toRow("always", "nothing");

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
