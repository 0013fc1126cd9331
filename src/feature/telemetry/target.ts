/** Where traces are sent: as the settings say, else the environment. */
import type { Config } from "../../core/config.ts";
import type { Settings } from "../settings/model.ts";

export interface Target {
  /** Without `/v1/traces`. */
  endpoint: string;
  from: "settings" | "environment";
  headers: Readonly<Record<string, string>>;
  /** Whether what people and models wrote is sent, too. */
  content: boolean;
}

type Options = Pick<Config, "otlpEndpoint" | "otlpHeaders">;

/**
 * Headers of the environment hold credentials of its endpoint: they are sent to no other, whatever the settings say.
 * @returns undefined: nothing is sent.
 */
export function targetOf(
  { otlpEndpoint, otlpHeaders }: Options,
  { endpoint, content }: Settings["telemetry"],
): Target | undefined {
  const chosen = endpoint?.replace(/\/$/, "") ?? otlpEndpoint;
  if (chosen === undefined) return undefined;
  const isOurs = chosen === otlpEndpoint;
  return {
    endpoint: chosen,
    from: endpoint === null ? "environment" : "settings",
    headers: (isOurs && otlpHeaders) || {},
    content,
  };
}
