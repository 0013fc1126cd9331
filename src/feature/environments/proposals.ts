/** The environments that repositories propose, with the Dockerfile as the branch has it now. */
import { invalidField } from "../../core/errors.ts";
import { visibleText } from "../../core/outside-text.ts";
import type { RepositoryTexts } from "../projects/repository-text.ts";
import type { ProjectSources } from "../projects/source.ts";
import type { AcceptedDockerfile, EnvironmentBuild, EnvironmentProposal } from "./model.ts";
import { createPins, type Pinned } from "./pin.ts";
import { ENVIRONMENT_FILES, hashOf, proposeEnvironment, type ReadOwn } from "./propose.ts";

export interface ProposalsDeps {
  projects: {
    texts: Pick<RepositoryTexts, "textsOf">;
    sources: Pick<ProjectSources, "context" | "head">;
  };
  readOwn: ReadOwn;
  /** Why this server builds no Dockerfiles; undefined when it does. */
  whyNoBuild: string | undefined;
}

export function createProposals({ projects, readOwn, whyNoBuild }: ProposalsDeps) {
  const pins = createPins(projects.sources);

  async function proposalOf(id: string): Promise<EnvironmentProposal | null> {
    const found = await projects.texts.textsOf(id, ENVIRONMENT_FILES);
    const proposal = found && proposeEnvironment((path) => found.texts.get(path), readOwn);
    if (!proposal) return null;
    const { definition, otherwise, ...read } = proposal;
    const at = { branch: found.branch, commit: found.commit };
    const { build } = definition;
    if (build === undefined) return { ...read, ...at, definition, dockerfile: null, hash: hashOf(definition) };
    const pinned = await pinnedAt(id, found.commit, build);
    if ("fault" in pinned)
      return {
        ...read,
        ...at,
        definition: otherwise,
        notes: [...read.notes, visibleText(pinned.fault)],
        dockerfile: null,
        hash: hashOf(otherwise),
      };
    const files = [...new Set([...read.files, build.dockerfile])];
    return { ...read, ...at, files, definition, ...pinned, hash: hashOf(definition, pinned.dockerfile) };
  }
  const pinnedAt = async (id: string, commit: string, build: EnvironmentBuild): Promise<Pinned> =>
    whyNoBuild === undefined
      ? pins.at(id, commit, build)
      : {
          fault: `${build.dockerfile} is not built here. ${whyNoBuild} Build the image yourself, and name it as \`image\`.`,
        };
  /** The Dockerfile for a definition that a person wrote, as the branch has it now. @throws Problem 409, 422. */
  async function pinOwn(id: string, build: EnvironmentBuild | undefined): Promise<AcceptedDockerfile | null> {
    if (build === undefined) return null;
    const pinned = await pinnedAt(id, whyNoBuild === undefined ? await projects.sources.head(id) : "", build);
    if ("fault" in pinned) throw invalidField("/definition/build", pinned.fault);
    return pinned.dockerfile;
  }

  return { proposalOf, pinOwn };
}
