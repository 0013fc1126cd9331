/** The environment of a project's code: what the sandboxes of its agents are started with. */
import { type Static, Type as t } from "@sinclair/typebox";
import { Caches } from "../../core/caches.ts";
import { HostLabels } from "../../core/host-labels.ts";
import { ImageName } from "../../core/image-name.ts";
import { AllowList } from "../../core/network.ts";
import { orNull, Time } from "../../core/schema.ts";
import { EnvironmentServices } from "../environment-services/model.ts";
import { isReservedName } from "../secrets/model.ts";

const MAX_VARIABLES = 50;

/** One line of text that does not begin with a blank. */
const Line = t.String({
  minLength: 1,
  maxLength: 2_000,
  pattern: "^[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$",
  description: "One line without control characters.",
});

const Variables = (options: { description?: string } = {}) =>
  t.Record(
    t.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,99}$" }),
    t.String({ maxLength: 4_000, pattern: "^[^\\x00]*$", description: "Text without null bytes." }),
    { maxProperties: MAX_VARIABLES, additionalProperties: false, ...options },
  );

const RepositoryPath = t.String({
  minLength: 1,
  maxLength: 400,
  pattern: "^[^\\x00-\\x1f\\x7f]+$",
  description: "Path from the root of the repository, without control characters.",
});

/** What an image is built from. All of it comes from the project's branch. */
export const EnvironmentBuild = t.Object(
  {
    dockerfile: RepositoryPath,
    context: t.Optional(RepositoryPath),
    args: t.Optional(Variables()),
  },
  { title: "EnvironmentBuild", additionalProperties: false },
);
export type EnvironmentBuild = Static<typeof EnvironmentBuild>;

/** The accepted Dockerfile: it is built as it is, whatever the branch says later. */
export const AcceptedDockerfile = t.Object(
  {
    text: t.String(),
    image: t.String({ description: "Image that the Dockerfile begins with." }),
    files: t.Integer({ description: "Number of files that the Dockerfile copies." }),
    digest: t.String({ description: "Digest of the names and contents of the copied files." }),
    commit: t.String(),
  },
  { title: "AcceptedDockerfile" },
);
export type AcceptedDockerfile = Static<typeof AcceptedDockerfile>;

export const Environment = t.Object(
  {
    image: t.Optional(ImageName),
    build: t.Optional(EnvironmentBuild),
    env: t.Optional(
      Variables({
        description:
          "Environment variables of every command. Do not put secrets here: everyone who can see the project can read them.",
      }),
    ),
    setup: t.Optional(Line),
    check: t.Optional(Line),
    host_labels: t.Optional(HostLabels),
    network: t.Optional(AllowList),
    services: t.Optional(EnvironmentServices),
    caches: t.Optional(Caches),
  },
  { title: "Environment", additionalProperties: false },
);
export type Environment = Static<typeof Environment>;

export const EnvironmentProposal = t.Object(
  {
    definition: Environment,
    hash: t.String({
      description: "Hash of the proposal, which you send to accept it. Another proposal has another hash.",
    }),
    files: t.Array(t.String(), { description: "Files of the repository from which the proposal was read." }),
    notes: t.Array(t.String(), { description: "What was left out of the proposal, and why." }),
    dockerfile: orNull(AcceptedDockerfile),
    branch: t.String(),
    commit: t.String(),
  },
  { title: "EnvironmentProposal" },
);
export type EnvironmentProposal = Static<typeof EnvironmentProposal>;

export const ProjectEnvironment = t.Object(
  {
    project_id: t.String(),
    accepted: orNull(
      t.Object({
        definition: Environment,
        dockerfile: orNull(AcceptedDockerfile),
        proposal_hash: orNull(
          t.String({ description: "Hash of the accepted proposal; `null` if a person wrote the environment." }),
        ),
        accepted_at: Time,
      }),
    ),
    proposal: orNull(EnvironmentProposal),
    changed: t.Boolean({ description: "Whether the repository proposes something that nobody has accepted." }),
  },
  { title: "ProjectEnvironment" },
);
export type ProjectEnvironment = Static<typeof ProjectEnvironment>;

export const EnvironmentChange = t.Object({
  hash: t.Optional(t.String({ pattern: "^[0-9a-f]{64}$", description: "Hash of the proposal to accept." })),
  image: t.Optional(ImageName),
  definition: t.Optional(Environment),
});
export type EnvironmentChange = Static<typeof EnvironmentChange>;

/** Names of variables that the sandbox sets itself, or that change how programs load. */
export const reservedIn = (env: Readonly<Record<string, string>> | undefined): string[] =>
  Object.keys(env ?? {}).filter(isReservedName);
