/** Schemas of the event stream's events for the OpenAPI document. */
import type { EventCatalogue } from "../core/events.ts";
import { plainSchema } from "./openapi-schemas.ts";

/** Schema name of an event: `run_created` → `RunCreatedEvent`. */
export const eventSchemaName = (kind: string): string =>
  `${kind.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** A schema for each kind of event, and `Event` for any of them. */
export function eventSchemas({ definitions }: EventCatalogue): Record<string, unknown> {
  const ref = { type: "string" };
  const envelope = {
    id: { type: "integer", description: "Position of the event in the log; strictly increasing." },
    at: { type: "string", format: "date-time" },
    run_id: ref,
    step_id: ref,
    session_id: ref,
    agent_id: ref,
    swarm_id: ref,
    project_id: ref,
  };
  const single = definitions.map(({ kind, schema, stale }) => {
    const properties = { kind: { const: kind, type: "string" }, ...envelope, data: plainSchema(schema) };
    return [
      eventSchemaName(kind),
      {
        type: "object",
        description: schema.description,
        required: ["id", "kind", "at", "data"],
        properties,
        ...(stale.length === 0 ? {} : { "x-stale": stale }),
      },
    ];
  });
  const names = definitions.map(({ kind }) => [kind, `#/components/schemas/${eventSchemaName(kind)}`]);
  const Event = {
    description: "An event as one frame of the event stream carries it.",
    oneOf: names.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: "kind", mapping: Object.fromEntries(names) },
  };
  return { ...Object.fromEntries(single), Event };
}
