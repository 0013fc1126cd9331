/** A server inside this process that other commands find: where it listens stands in its data folder while it runs. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { App } from "../app.ts";
import type { Config } from "../core/config.ts";
import { loadApp } from "./load-app.ts";

/** Where a running server says how to reach it, in its data folder; 0600. */
export interface ServerFile {
  url: string;
  pid: number;
}

export interface Started {
  app: App;
  /** Stops the server and takes the file back. */
  stop(): Promise<void>;
}

const serverFilePath = (data: string): string => join(resolve(data), "server.json");

/** Opens everything and listens. @throws Problem with the remedy when a part cannot start. */
export async function startServer(config: Config): Promise<Started> {
  const { createApp } = await loadApp();
  const app = await createApp(config);
  const path = serverFilePath(config.data);
  const draft = `${path}.${process.pid}`;
  try {
    const file: ServerFile = { url: app.url, pid: process.pid };
    writeFileSync(draft, `${JSON.stringify(file)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    await app.stop();
    throw error;
  }
  return {
    app,
    async stop() {
      rmSync(path, { force: true });
      await app.stop();
    },
  };
}

/** The server that works on this data folder, if one answers. */
export async function runningServer(data: string): Promise<ServerFile | undefined> {
  const path = serverFilePath(data);
  if (!existsSync(path)) return undefined;
  try {
    const file = JSON.parse(readFileSync(path, "utf8")) as ServerFile;
    const answer = await fetch(`${file.url}/healthz`, { signal: AbortSignal.timeout(3_000) });
    return answer.ok ? file : undefined;
  } catch {
    return undefined;
  }
}
