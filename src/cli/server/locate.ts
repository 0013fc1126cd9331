/** Finds the server that a command talks to. It never starts one. */
import type { Command } from "commander";
import { isLoopback, readConfig } from "../../core/config.ts";
import { badUsage } from "../../core/errors.ts";
import { type Client, createClient, noServer } from "./client.ts";
import { currentServer, tokenFor } from "./credentials.ts";
import { isAnswering, listedServers, runningServer, type ServerFile, serverOfNamed } from "./server-file.ts";

export interface ServerFlags {
  url?: string | undefined;
  data?: string | undefined;
  json?: boolean | undefined;
}

/** Adds the flags of every command that talks to a server. */
export const withServer = (command: Command): Command =>
  command
    .option("--url <url>", "address of the server to use (env: SKEP_URL)")
    .option("--data <dir>", "use the server that works on this data folder (env: DATA)")
    .option("--json", "print JSON instead of text");

/** A client of the server that the flags, the environment and earlier log-ins name. @throws Problem 503 `no_server`. */
export async function connect(flags: ServerFlags): Promise<Client> {
  const { url, data } = await locate(flags);
  return createClient(url, tokenFor(url), data);
}

/** The address of a server; also its data folder if it runs on this machine. */
export type Place = Pick<ServerFile, "url"> & Partial<ServerFile>;

const trimSlashes = (url: string): string => url.replace(/(?<!\/)\/+$/, "");

/**
 * Chooses, in this order: --url, SKEP_URL, --data, DATA, ./data, the last `skep login`, this user's running server. If
 * the command does not name the server and the last log-in was at another one, it says on standard error which it is:
 * tokens and secrets go there.
 */
export async function locate(flags: ServerFlags): Promise<Place> {
  const place = await find(flags);
  const usual = currentServer();
  const isNamed = flags.url !== undefined || flags.data !== undefined;
  if (!isNamed && usual !== undefined && place.url !== usual) {
    const whose = place.data === undefined ? "as SKEP_URL says" : `the server of ${place.data}`;
    console.error(`skep: using ${place.url}, ${whose}. You are logged in at ${usual} (--url ${usual}).`);
  }
  return place;
}

async function find({ url, data }: ServerFlags): Promise<Place> {
  const named = url ?? process.env["SKEP_URL"];
  if (named) return { url: trimSlashes(requireAddress(named)) };
  const config = readConfig(process.env, { data });
  const isGiven = config.sources.data !== "default";
  const here = await (isGiven ? serverOfNamed(config.data) : runningServer(config.data));
  if (here) return here;
  if (isGiven)
    throw noServer(`No server runs on the data folder ${config.data}. Start it with: skep serve --data ${config.data}`);
  const chosen = currentServer();
  const isElsewhere = chosen !== undefined && !isLoopback(new URL(chosen).hostname);
  if (chosen !== undefined && (isElsewhere || (await isAnswering(chosen)))) return { url: chosen };
  const one = await onlyServer();
  if (one) return one;
  throw noServer("No server of yours is running. Start one with: skep serve. For one elsewhere: skep login --url URL");
}

/** The one server of this user that runs on this machine, if any. @throws Problem 503 `no_server` when several run. */
export async function onlyServer(): Promise<ServerFile | undefined> {
  const running = await listedServers();
  if (running.length > 1)
    throw noServer(
      `Several servers of yours are running. Name one: ${running.map(({ data }) => `--data ${data}`).join(", or ")}`,
    );
  return running[0];
}

function requireAddress(url: string): string {
  if (/^https?:\/\/[^/]/.test(url) && URL.canParse(url)) return url;
  throw badUsage("--url and SKEP_URL take the address of a server: https://skep.example.org");
}
