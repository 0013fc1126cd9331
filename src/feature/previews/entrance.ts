/** The listener for visitors of previews. It opens when it is first needed, or at the start if its port is set. */
import type { RequestHead } from "../../adapter/preview/head.ts";
import type { OwnAnswer, openPreviewServer, Passage, PreviewServer } from "../../adapter/preview/server.ts";
import { previewAddress } from "../../http/address.ts";
import type { Core } from "../feature.ts";
import type { Previews } from "./service.ts";
import { createVisits, previewsOff, type Visits } from "./visits.ts";

interface EntranceDeps extends Pick<Core, "config" | "clock" | "log"> {
  previews: Previews;
  openServer: typeof openPreviewServer;
  decide(visits: Visits, request: RequestHead): OwnAnswer | Passage;
}

interface Opened {
  server: PreviewServer;
  visits: Visits;
}

const NOT_YET: OwnAnswer = { status: 503, headers: {}, text: "The server is starting.\n" };

export function createEntrance({ config, clock, log, previews, openServer, decide }: EntranceDeps) {
  const address = previewAddress(config);
  let opening: Promise<Opened> | undefined;
  async function listen(): Promise<Opened> {
    if (address === undefined) throw previewsOff();
    let visits: Visits | undefined;
    const server = await openServer(
      { host: config.host, port: config.previewPort },
      { decide: (request) => (visits ? decide(visits, request) : NOT_YET) },
    );
    // Without a proxy in front, visitors use the port on which the listener listens.
    const isOwn = config.previewUrl === undefined;
    visits = createVisits({ previews, clock, address: isOwn ? `${address}:${server.port}` : address });
    log.info({ port: server.port }, "previews listen");
    return { server, visits };
  }
  const openEntrance = (): Promise<Opened> => {
    opening ??= listen().catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    /** @throws Problem 503 `previews_off`, 409 `port_in_use`. */
    open: async (): Promise<Visits> => (await openEntrance()).visits,
    async start() {
      // A proxy may already lead visitors to this port.
      if (address !== undefined && config.previewPort > 0) await openEntrance();
    },
    async close() {
      const found = await opening?.catch(() => undefined);
      found?.server.close();
    },
  };
}
