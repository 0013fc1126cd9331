/** What a failed command prints: one line with the remedy for an expected failure, a stack trace for a bug. */
import { codeOf, isDiskFull, isProblem } from "../core/errors.ts";
import { stripControls } from "./terminal/style.ts";

const FULL = "The disk of the data folder is full. Free some space and start again; nothing that was answered is lost.";
const REMEDIES: readonly [codes: RegExp, text: string][] = [
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    "The database skep.db is damaged. Keep the file, and restore a copy (the data folder's backups, or your own).",
  ],
  [
    /^SQLITE_(READONLY|CANTOPEN|PERM)/,
    "The data folder cannot be written. Give its owner the rights back, or name another with --data.",
  ],
  [
    /^(ECONNRESET|ECONNABORTED|ConnectionClosed|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE)$/,
    "The connection broke off. Is the server still running? Try again.",
  ],
  [
    /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|EHOSTUNREACH|ENETUNREACH)$/,
    "The server cannot be reached. Is it running, and is the address right?",
  ],
  [
    /^(ETIMEDOUT|ConnectionTimeout|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/,
    "The server took too long to answer. Try again.",
  ],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "The host name cannot be resolved. Look at the address, and at this machine's network."],
  [/^EIO$/, "The terminal is gone."],
  [/^SQLITE_IOERR/, "Reading or writing the data folder's disk failed. See the system's log."],
];

/** Matches the message of a file system error, also one that another process sent as text. */
const FILE_ERROR = /^(E[A-Z]{3,}): [^,]*, (\w+) '([^']*)'/;
const ACTIONS: Readonly<Record<string, string>> = {
  mkdir: "make the folder",
  mkdtemp: "make a folder like",
  rmdir: "remove",
};

function fileFailure(error: unknown): string | undefined {
  const [, code, call = "", path = ""] = FILE_ERROR.exec(error instanceof Error ? error.message : "") ?? [];
  if (code === undefined) return undefined;
  const isOwn = [process.env["HOME"], process.env["XDG_CACHE_HOME"], process.env["XDG_CONFIG_HOME"]].some(
    (folder) => folder && path.startsWith(folder),
  );
  const remedy = isOwn ? "Is HOME right, and may this user write there?" : "Check that it exists and who may write it.";
  return `skep: Cannot ${ACTIONS[call] ?? call} ${path} (${code}). ${remedy}`;
}

/** The text for standard error, without its line break. It may hold words of others: a name, a server's answer. */
export const failureText = (error: unknown): string => stripControls(textOf(error));

function textOf(error: unknown): string {
  if (isProblem(error)) return `skep: ${error.detail}`;
  const code = codeOf(error);
  if (isDiskFull(error)) return `skep: ${FULL} (${code})`;
  const known = code ? REMEDIES.find(([codes]) => codes.test(code)) : undefined;
  if (known) return `skep: ${known[1]} (${code})`;
  const file = fileFailure(error);
  if (file) return file;
  // The runtime's own report would print the failing source line, which in the executable is the whole program.
  return `skep: unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
