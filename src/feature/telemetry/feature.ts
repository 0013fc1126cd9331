/** Sends traces to an OpenTelemetry receiver, if one is named, and counts work for `/metrics`. */
import { guardFor } from "../../adapter/address-guard.ts";
import { askBriefly } from "../../adapter/guarded-fetch.ts";
import { BUILD } from "../../core/version.ts";
import { type Finding, pass, warn } from "../doctor/model.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { SettingsService } from "../settings/service.ts";
import { countWork } from "./counts.ts";
import { createExporter } from "./exporter.ts";
import { gaugeWork } from "./gauges.ts";
import type { Telemetry } from "./model.ts";
import { telemetryRoutes } from "./routes.ts";
import { createSpans, TRACED } from "./spans.ts";
import { targetOf } from "./target.ts";

type Needs = Core & { settings: Pick<SettingsService, "get"> };

export const telemetry = defineFeature("telemetry", (deps: Needs) => {
  const { bus, config, masking, metrics, instanceId, settings } = deps;
  for (const value of Object.values(config.otlpHeaders ?? {})) masking.add("OTEL_EXPORTER_OTLP_HEADERS", value);
  const findTarget = () => targetOf(config, settings.get().telemetry);
  const spans = metrics.counter("trace_spans_total", "Spans that the receiver took, and those that were left out.");
  const exporter = createExporter({
    countSpans: (outcome, count) => spans({ outcome }, count),
    ...deps,
    findTarget,
    spanOf: createSpans(deps),
    ask: (address, request) => askBriefly(address, { ...request, resolve: guardFor(address).resolve }),
    version: BUILD.version,
    resource: {
      "service.name": config.otelServiceName,
      "service.version": BUILD.version,
      "service.instance.id": instanceId,
    },
  });
  const readStatus = (): Telemetry => {
    const chosen = findTarget();
    return {
      endpoint: chosen?.endpoint ?? null,
      from: chosen?.from ?? null,
      content: chosen?.content ?? false,
      spans_sent: exporter.counts.sent,
      spans_dropped: exporter.counts.dropped,
      last_sent_at: exporter.lastSentAt(),
      error: chosen ? exporter.error() : null,
    };
  };
  gaugeWork(metrics, deps.store, deps.folder.root);
  metrics.gauge("trace_export_failing", "1: the receiver did not take the last spans.", () =>
    Number(readStatus().error !== null),
  );
  const stops = [bus.subscribe(TRACED, exporter.sendNew), countWork(metrics, bus)];
  return {
    routes: () => telemetryRoutes(readStatus),
    checks: () => [findingOf(readStatus())],
    start: exporter.sendNew,
    async stop() {
      for (const stop of stops) stop();
      await exporter.stop();
    },
  };
});

function findingOf({ endpoint, error, spans_sent, spans_dropped, content }: Telemetry): Finding {
  if (endpoint === null) return pass("traces", "not sent; skep settings set telemetry.endpoint=ADDRESS sends them");
  const counted = `${spans_sent} spans sent to ${endpoint} and ${spans_dropped} left out since the start`;
  if (error !== null)
    return warn("traces", `${counted}; the last attempt failed: ${error}`, "see docs/monitoring.md for what it takes");
  return pass("traces", content ? `${counted}; with prompts and replies` : counted);
}
