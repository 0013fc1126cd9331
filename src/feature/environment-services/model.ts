/** Services of a project's environment: databases and the like that run beside the sandboxes which work on its code. */
import { type Static, Type as t } from "@sinclair/typebox";
import { ImageName } from "../../core/image-name.ts";

const MAX_SERVICES = 8;
/** Time within which a service must be healthy, unless its definition says otherwise. */
export const START_SECONDS = 60;
const MAX_VARIABLES = 50;

const Text = t.String({ maxLength: 4_000, pattern: "^[^\\x00]*$", description: "Text without null bytes." });

const EnvironmentService = t.Object(
  {
    image: ImageName,
    env: t.Optional(
      t.Record(t.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,99}$" }), Text, {
        maxProperties: MAX_VARIABLES,
        additionalProperties: false,
        description:
          "Environment variables of the service. Do not put secrets here: everyone who can see the project can read them.",
      }),
    ),
    command: t.Optional(
      t.Array(Text, { minItems: 1, maxItems: 100, description: "Arguments that replace those of the image." }),
    ),
    health: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 2_000,
        pattern: "^[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$",
        description:
          "Command that succeeds once the service can be used; it runs in the service. One line without control characters.",
      }),
    ),
    start_seconds: t.Optional(
      t.Integer({
        minimum: 1,
        maximum: 600,
        description: `Seconds within which the service must be healthy; default ${START_SECONDS}.`,
      }),
    ),
  },
  { title: "EnvironmentService", additionalProperties: false },
);

/** Reserved names that mean the sandbox itself. */
const OWN_NAMES = "localhost|sandbox|setup";

export const EnvironmentServices = t.Record(
  t.String({ pattern: `^(?!(?:${OWN_NAMES})$)[a-z](?:[a-z0-9-]{0,38}[a-z0-9])?$` }),
  EnvironmentService,
  {
    maxProperties: MAX_SERVICES,
    additionalProperties: false,
    description: `Up to ${MAX_SERVICES} services by their host names: lower-case letters, digits and dashes, at most 40 characters; not localhost, sandbox or setup.`,
  },
);
export type EnvironmentServices = Static<typeof EnvironmentServices>;
