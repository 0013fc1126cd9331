import { cookieIn, isForeign, type RequestHead } from "../../adapter/preview/head.ts";
import { type OwnAnswer, openPreviewServer, type Passage } from "../../adapter/preview/server.ts";
import type { PreviewPort } from "../../engine/ports.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { RunsService } from "../runs/service.ts";
import { createEntrance } from "./entrance.ts";
import { previewEvents } from "./events.ts";
import { previewRoutes } from "./routes.ts";
import { screenshotRoutes } from "./screenshot-routes.ts";
import { createScreenshots } from "./screenshots.ts";
import { createPreviews } from "./service.ts";
import { explainFailure, type Visits } from "./visits.ts";

type Needs = Core & { runs: Pick<RunsService, "views"> };

/** The part of the service that the engine uses. */
export interface PreviewsService {
  engine: Pick<PreviewPort, "open" | "keepScreenshots">;
}

export const previews = defineFeature(
  "previews",
  ({ store, clock, log, config, runs }: Needs) => {
    const assertRun = (id: string, caller: Parameters<typeof runs.views.rowFor>[1]) =>
      void runs.views.rowFor(id, caller);
    const service = createPreviews({ store, clock, log, assertRun });
    const entrance = createEntrance({ config, clock, log, previews: service, openServer: openPreviewServer, decide });
    const screenshots = createScreenshots({ store, clock, assertRun });
    return {
      service: { engine: { open: service.open, keepScreenshots: screenshots.keep } },
      routes: () => [...previewRoutes(service, entrance.open), ...screenshotRoutes(screenshots)],
      counts: () => ({ previews: service.count() }),
      async start() {
        service.forgetAll();
        await entrance.start();
      },
      close: entrance.close,
    };
  },
  previewEvents,
);

/** Passes a request for a preview's address on to its app, or answers why not. */
function decide(visits: Visits, request: RequestHead): OwnAnswer | Passage {
  const { method, target, host, headers } = request;
  const outer = visits.originAt(host);
  const admitted = visits.admit({
    method,
    target,
    host,
    isForeign: outer === undefined || isForeign(request, outer),
    cookie: cookieIn(headers, visits.cookieName),
  });
  if (!("preview" in admitted)) return admitted;
  const { preview, origin, signal, count, onEnd } = admitted;
  return {
    outer: origin,
    inner: `http://localhost:${preview.port}`,
    signal,
    count,
    onEnd,
    connect: () => preview.connect(preview.port),
    explain: (error) => explainFailure(preview, error),
  };
}
