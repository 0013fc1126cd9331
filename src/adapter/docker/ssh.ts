/**
 * Connects to an engine's socket on another machine with this machine's `ssh` program. Keys, jump hosts and known hosts
 * come from the user's own configuration.
 * One connection carries all calls. It appears as a socket in a folder that only this user can open. It is made when a
 * call needs it, and again after it has broken.
 * The connection ends with this process, however that ends, because the far side waits for our end to close.
 */
import { mkdtempSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { badRequest, codeOf, isProblem, messageOf, type Problem, unavailable } from "../../core/errors.ts";

export interface SshHost {
  host: string;
  user: string | undefined;
  port: number | undefined;
  /** Path of the engine's socket on that machine. */
  socket: string;
  /** PATH, HOME and the variables that ssh needs; ssh gets no other variable of the server's environment. */
  env: Readonly<Record<string, string>>;
}

export type SshWay = ReturnType<typeof createSshWay>;

/** After a failure, the host is not tried again for this long. */
const AGAIN_MS = 2_000;
/** Time to connect and log in, also through jump hosts. */
const OPEN_MS = 30_000;
const SAID_CHARACTERS = 2_000;
const SYSTEM_SOCKET = "/var/run/docker.sock";
/** The first word from the far side: whether its socket exists and that user may open it. */
const READY = "skep-ready";
const SHUT = "skep-shut";
const ABSENT = "skep-absent";

const OPTIONS = [
  "BatchMode=yes",
  "StrictHostKeyChecking=yes",
  "ConnectTimeout=10",
  "LogLevel=ERROR",
  // Turns off options that the user's configuration may set for interactive work.
  "ForwardAgent=no",
  "ForwardX11=no",
  "PermitLocalCommand=no",
  "RequestTTY=no",
  "RemoteCommand=none",
  "ControlMaster=no",
  "ControlPath=none",
  "ExitOnForwardFailure=yes",
  "StreamLocalBindMask=0177",
  "StreamLocalBindUnlink=yes",
  // Notices a machine that is gone.
  "ServerAliveInterval=5",
  "ServerAliveCountMax=3",
].flatMap((option) => ["-o", option]);

const FOLDER = "skep-ssh-";
const SOCKET = "engine.sock";

/**
 * Runs `ssh` and removes the folder when it has ended. What `ssh` says about a failure comes as output. Stopping a
 * service signals all of its processes, so the shell ignores the signals and outlives `ssh` to remove the folder.
 */
const RUN = 'trap : HUP INT TERM; folder=$1; shift; ssh "$@" 2>&1; exec >&-; rm -rf -- "$folder"';

/** @param address `ssh://user@host:port/path/of/the/socket`. @throws Problem 400. */
export function sshHost(address: string, env: Readonly<Record<string, string>>): SshHost {
  const url = URL.parse(address);
  const host = url?.hostname.replace(/^\[|\]$/g, "") ?? "";
  const user = url?.username || undefined;
  const socket = url?.pathname.replace(/^\/$/, "") || SYSTEM_SOCKET;
  // A host that begins with a dash would be taken for an option.
  const isPlain = /^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$/.test(host) && /^\/[\w./-]{1,100}$/.test(socket);
  if (!url || !isPlain || url.password || url.search || url.hash || !/^[\w.][\w.-]{0,63}$/.test(user ?? "x"))
    throw badRequest(
      "DOCKER_HOST over SSH must be ssh://user@host, with :port and the path of the engine's socket where they are not the usual ones. Keys are those of the user's SSH configuration.",
      "docker_host_invalid",
    );
  return { host, user, port: url.port === "" ? undefined : Number(url.port), socket, env };
}

export function createSshWay(to: SshHost, address: string) {
  let way: Promise<string> | undefined;
  let stands: string | undefined;
  /** Forgets a connection whose socket nobody listens at any more; `open` then makes another. */
  const drop = (socketPath: string) => {
    if (stands !== socketPath) return;
    stands = undefined;
    way = undefined;
  };
  const make = async (): Promise<string> => {
    try {
      stands = await connect(to, address, drop);
      return stands;
    } catch (error) {
      setTimeout(() => {
        way = undefined;
      }, AGAIN_MS).unref();
      throw isProblem(error) ? error : createProblem(address, messageOf(error));
    }
  };
  return {
    drop,
    /**
     * Resolves with the path of the socket on this machine, once connected. @throws Problem 503 `sandbox_unavailable`.
     */
    open(): Promise<string> {
      way ??= make();
      return way;
    },
  };
}

/** Makes a connection. @param onEnd called with the socket's path when an established connection has ended. */
async function connect(
  { host, user, port, socket, env }: SshHost,
  address: string,
  onEnd: (socketPath: string) => void,
) {
  const { spawn } = await import("node:child_process");
  await removeLeft(tmpdir());
  const folder = mkdtempSync(join(tmpdir(), FOLDER));
  const near = join(folder, SOCKET);
  const look = `if [ -r ${socket} ] && [ -w ${socket} ]; then echo ${READY}; elif [ -e ${socket} ]; then echo ${SHUT}; else echo ${ABSENT}; fi; exec cat >/dev/null`;
  const args = [
    ...OPTIONS,
    "-L",
    `${near}:${socket}`,
    ...(port === undefined ? [] : ["-p", String(port)]),
    ...(user === undefined ? [] : ["-l", user]),
    "--",
    host,
    `exec sh -c '${look}'`,
  ];
  // The process group is separate, because Ctrl-C at a server in a terminal must not end ssh before the server has
  // cleaned up.
  const child = spawn("sh", ["-c", RUN, "sh", folder, ...args], {
    env,
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  child.unref();
  child.stdin.on("error", () => {});
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = "";
  let stands = false;
  const late = setTimeout(() => {
    child.stdin.end();
    child.stdout.destroy();
    reject(createProblem(address, `no connection within ${OPEN_MS / 1_000} s`));
  }, OPEN_MS);
  child.stdout.on("data", (data: Buffer) => {
    if (stands) return;
    said = (said + data.toString("utf8")).slice(-SAID_CHARACTERS);
    const word = said.split("\n").find((line) => line === READY || line === SHUT || line === ABSENT);
    if (word === undefined) return;
    if (word === READY) {
      stands = true;
      // The open stream must not keep a finished command-line program running.
      if ("unref" in child.stdout && typeof child.stdout.unref === "function") child.stdout.unref();
      return resolve(near);
    }
    const why = word === SHUT ? "that user may not open" : "there is no";
    reject(createProblem(address, `${why} ${socket} on that machine`));
    child.stdin.end();
  });
  const handleEnd = (why: string) => {
    if (stands) onEnd(near);
    reject(createProblem(address, why));
  };
  child.on("error", (error) => handleEnd(messageOf(error)));
  child.stdout.on("close", () => handleEnd(reasonOf(said)));
  try {
    return await promise;
  } finally {
    clearTimeout(late);
  }
}

/**
 * Most folders removed at once; the next connection removes more. In a folder that is open to all, others may create
 * any number of them.
 */
const MOST_LEFT = 100;

/**
 * Removes this user's folders of connections whose shell was killed: nobody listens at their sockets. A folder that
 * cannot be listed, inspected or removed does not prevent a connection.
 */
async function removeLeft(place: string): Promise<void> {
  const names = await readdir(place).catch(() => []);
  const folders = names.filter((name) => name.startsWith(FOLDER)).slice(0, MOST_LEFT);
  const removed = folders.map(async (name) => {
    const folder = join(place, name);
    const { uid } = await lstat(folder);
    if (uid === process.getuid?.() && (await isRefused(join(folder, SOCKET)))) await rm(folder, { recursive: true });
  });
  await Promise.allSettled(removed);
}

/** Whether the socket exists but nobody listens at it. */
async function isRefused(path: string): Promise<boolean> {
  const { connect } = await import("node:net");
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.on("connect", () => {
    socket.destroy();
    resolve(false);
  });
  socket.on("error", (error) => resolve(codeOf(error) === "ECONNREFUSED"));
  return promise;
}

/** Derives a reason from ssh's last two lines; the lines before only repeat who it is. */
function reasonOf(said: string): string {
  const lines = said.split("\n").map((line) => line.replace(/[^\x20-\x7e]/g, "").trim());
  const told = lines
    .filter((line) => line !== "")
    .slice(-2)
    .join(" ");
  if (/host key verification failed/i.test(told))
    return "its host key is not known; connect once by hand, compare the key and accept it (ssh -o StrictHostKeyChecking=ask)";
  if (/permission denied/i.test(told))
    return "it does not let this user in; a key without a passphrase, or in an SSH agent, has to be accepted there";
  return told || "the connection ended";
}

const createProblem = (address: string, why: string): Problem =>
  unavailable("sandbox_unavailable", `Docker at ${address} does not answer: ${why.replace(/\.$/, "")}.`);
