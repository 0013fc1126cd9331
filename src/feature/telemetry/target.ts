/** Where traces are sent: to the receiver in the settings, else in the environment. */
import type { Config } from "../../core/config.ts";
import type { Settings } from "../settings/model.ts";

export interface Target {
  /** Address of the receiver, without `/v1/traces`. */
  endpoint: string;
  from: "settings" | "environment";
  headers: Readonly<Record<string, string>>;
  /** Whether texts by people and models are sent as well. */
  content: boolean;
}

type Options = Pick<Config, "otlpEndpoint" | "otlpHeaders">;

/**
 * Headers in the environment hold credentials for the endpoint there, so they are sent to no other endpoint, whatever
 * the settings say.
 * @returns undefined when nothing is sent.
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
