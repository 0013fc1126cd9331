/** A project as files: the contents of an archive, and the answer to an import. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { orNull } from "../../core/schema.ts";
import { Environment } from "../environments/model.ts";
import { Job } from "../jobs/model.ts";
import { BoardColumn, ProjectCreate, ProjectOpenTo, ShownProject } from "../projects/model.ts";
import { SecretCreate } from "../secrets/model.ts";
import { ImportedTask, Rules } from "../tasks/model.ts";

export const FORMAT = "skep-project";
/** Version of the format. It grows when an older Skep could no longer read the archive. */
export const FORMAT_VERSION = 1;
/** Most tasks in an archive: as many as an import of tasks accepts. */
export const TASKS_MAX = 5_000;
export const RUNS_MAX = 2_000;

const Passphrase = t.String({
  minLength: 12,
  maxLength: 1_000,
  description:
    "Passphrase that seals the secrets in the archive. The server does not store it, and without it nobody can open the secrets.",
});

export const ProjectExport = t.Object(
  {
    secrets: t.Optional(
      t.Array(t.String({ minLength: 1, maxLength: LIMITS.nameCharacters }), {
        maxItems: 50,
        description:
          "Names of secrets to include, sealed with the passphrase. Administrators only; by default the archive holds no secrets.",
      }),
    ),
    passphrase: t.Optional(Passphrase),
  },
  { additionalProperties: false },
);
export type ProjectExport = Static<typeof ProjectExport>;

/** Fields of the upload form besides the file. */
export const ProjectImport = t.Object({
  name: t.Optional(
    t.String({
      ...ProjectCreate.properties.name,
      description: "Name of the new project, instead of the name in the archive.",
    }),
  ),
  access: t.Optional(ProjectOpenTo),
  trusted: t.Optional(
    t.Union([t.Literal("true"), t.Literal("false")], {
      description: "true: you know who wrote the archive, so its text is not treated as outside text.",
    }),
  ),
  passphrase: t.Optional(
    t.String({
      maxLength: 1_000,
      description: "Passphrase that opens the secrets in the archive. Administrators only.",
    }),
  ),
});
export type ProjectImport = Static<typeof ProjectImport>;

export const ImportedProject = t.Object(
  {
    project: ShownProject,
    job: orNull(Job),
    tasks: t.Integer({ description: "Number of tasks that the job creates; each gets a new id." }),
    notices: t.Array(t.String(), {
      description: "Parts of the archive that could not be imported, and what to do about them.",
    }),
  },
  { title: "ImportedProject" },
);
export type ImportedProject = Static<typeof ImportedProject>;

/** `manifest.json`, the first file. */
export const Manifest = t.Object({
  format: t.Literal(FORMAT),
  version: t.Integer({ minimum: 1 }),
  skep: t.String({ maxLength: 100 }),
  created_at: t.String({ maxLength: 40 }),
  files: t.Array(
    t.Object({
      path: t.String({ maxLength: 100 }),
      bytes: t.Integer({ minimum: 0 }),
      sha256: t.String({ pattern: "^[0-9a-f]{64}$" }),
    }),
    { maxItems: 20 },
  ),
});
export type Manifest = Static<typeof Manifest>;

/** `project.json`. */
export const ArchivedProject = t.Object({
  ...t.Omit(ProjectCreate, ["access"]).properties,
  vision: t.Optional(orNull(t.String({ maxLength: LIMITS.textCharacters }))),
  columns: t.Optional(t.Array(BoardColumn, { minItems: 1, maxItems: 30 })),
});
export type ArchivedProject = Static<typeof ArchivedProject>;

/** `policy.json`. */
export const ArchivedPolicy = t.Object({ rules: Rules, wait_for_merge: t.Boolean() });
export type ArchivedPolicy = Static<typeof ArchivedPolicy>;

/** `environment.json`. */
export const ArchivedEnvironment = Environment;

/** A line of `tasks.ndjson`. Other tasks refer to it by its key. */
export const ArchivedTask = ImportedTask;
export type ArchivedTask = Static<typeof ArchivedTask>;

/**
 * `secrets.json`. The parameters that derive the key from the passphrase are fixed, so that an archive cannot demand
 * endless work.
 */
export const SealedSecrets = t.Object({
  salt: t.String({ pattern: "^[0-9a-f]{32}$" }),
  sealed: t.String({ maxLength: 8 * 1024 * 1024 }),
});
export type SealedSecrets = Static<typeof SealedSecrets>;

export const ArchivedSecrets = t.Array(SecretCreate, { maxItems: 50 });
export type ArchivedSecrets = Static<typeof ArchivedSecrets>;
