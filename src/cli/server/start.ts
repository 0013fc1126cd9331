import type { Config } from "../../core/config.ts";
import { isProblem, Problem } from "../../core/errors.ts";
import { compileFromNowOn } from "../../process/jit.ts";
import { beforeEarlyEnd } from "../broken-output.ts";
import { loadAppForData } from "../load-app.ts";
import { listedServers, listServer, publishServer, serverOfNamed, withdrawServer } from "./server-file.ts";

export type Started = Awaited<ReturnType<typeof startServer>>;

/**
 * Starts the server in this process and listens.
 * @param listed whether commands can find it from any folder. A short-lived server is found only through its data
 * folder.
 * @throws Problem with the remedy when a part cannot start.
 */
export async function startServer(config: Config, { listed = false } = {}) {
  const { createApp } = await loadAppForData();
  const app = await createApp(config).catch(async (error: unknown) => {
    throw await namingHolder(error, config);
  });
  compileFromNowOn();
  try {
    publishServer(app.url, config.data);
    if (listed) listServer(app.url, config.data);
  } catch (error) {
    await app.stop();
    throw error;
  }
  let stopping: Promise<void> | undefined;
  /** Stops the server and removes its address. */
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      forget();
      withdrawServer(config.data);
      await app.stop();
    })();
    return stopping;
  };
  const forget = beforeEarlyEnd(stop);
  return { app, stop };
}

/** Whether a server can listen on that port of the loopback address. */
export function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

/**
 * If another server of this user holds the port or the data folder, adds to the error which one. Returns other errors
 * unchanged.
 */
async function namingHolder(error: unknown, { data, port }: Config): Promise<unknown> {
  if (!isProblem(error)) return error;
  const { status, code, detail } = error;
  if (code === "data_in_use") {
    const holder = await serverOfNamed(data);
    return holder ? new Problem(status, code, `${detail} It runs at ${holder.url} (process ${holder.pid}).`) : error;
  }
  if (code !== "port_in_use") return error;
  const holder = (await listedServers()).find(({ url }) => new URL(url).port === String(port));
  if (!holder) return error;
  return new Problem(
    status,
    code,
    `${detail} The Skep of the data folder ${holder.data} listens there (process ${holder.pid}).`,
  );
}
