/** A server inside this process that other commands find for as long as it runs. */
import type { App } from "../../app.ts";
import type { Config } from "../../core/config.ts";
import { compileFromNowOn } from "../../core/jit.ts";
import { loadAppForData } from "../load-app.ts";
import { listServer, publishServer, withdrawServer } from "./server-file.ts";

export interface Started {
  app: App;
  /** Stops the server and removes its address. */
  stop(): Promise<void>;
}

/**
 * Opens everything and listens.
 * @param listed whether commands find it from any folder; one that soon ends is found over its data folder alone.
 * @throws Problem with the remedy when a part cannot start.
 */
export async function startServer(config: Config, { listed = false } = {}): Promise<Started> {
  const { createApp } = await loadAppForData();
  const app = await createApp(config);
  compileFromNowOn();
  try {
    publishServer(app.url, config.data);
    if (listed) listServer(app.url, config.data);
  } catch (error) {
    await app.stop();
    throw error;
  }
  return {
    app,
    async stop() {
      withdrawServer(config.data);
      await app.stop();
    },
  };
}
