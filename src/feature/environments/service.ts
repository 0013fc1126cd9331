/**
 * Environments of projects' code. A repository proposes an environment. It has effect once an administrator has
 * accepted exactly that text, and stays as accepted whatever the repository says later.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalid, invalidField, notFound } from "../../core/errors.ts";
import { type LabeledHost, lackOfHost } from "../../core/host-labels.ts";
import { hostEntry } from "../../core/network.ts";
import { ownJson } from "../../core/own-json.ts";
import type { CodeEnvironment } from "../../engine/ports.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { projectEnvironments } from "../../store/tables/environments.ts";
import { type Finding, warn } from "../doctor/model.ts";
import type { AllowedHost } from "../egress/model.ts";
import type { Core } from "../feature.ts";
import type { Project, ProjectUpdate } from "../projects/model.ts";
import { environmentChanged } from "./events.ts";
import {
  type AcceptedDockerfile,
  type Environment,
  type EnvironmentChange,
  type ProjectEnvironment,
  reservedIn,
} from "./model.ts";
import { createProposals, type ProposalsDeps } from "./proposals.ts";
import { EITHER } from "./propose.ts";

const MAX_HOSTS = 200;

interface EnvironmentsDeps extends ProposalsDeps, Pick<Core, "store" | "clock" | "audit"> {
  projects: {
    find(id: string): Project | undefined;
    update(id: string, change: ProjectUpdate): Promise<Project>;
  } & ProposalsDeps["projects"];
  /** The hosts that agents work on, where there is more than one. */
  hosts: readonly LabeledHost[];
  /** Why this server keeps no caches; undefined when it does. */
  noCaches: string | undefined;
}

type Accepted = NonNullable<ProjectEnvironment["accepted"]>;
type Wanted = Omit<Accepted, "accepted_at">;

export type Environments = ReturnType<typeof createEnvironments>;

export function createEnvironments(deps: EnvironmentsDeps) {
  const { store, clock, audit, projects, hosts, noCaches } = deps;
  const rows = store.rows(projectEnvironments);
  const { proposalOf, pinOwn } = createProposals(deps);
  const assertProject = (id: string): void => {
    if (!projects.find(id)) throw notFound("project");
  };
  function acceptedOf(id: string): ProjectEnvironment["accepted"] {
    const row = rows.find({ project_id: id });
    if (!row) return null;
    const { definition, proposal_hash, accepted_at, dockerfile } = row;
    return {
      definition: ownJson<Environment>(definition),
      dockerfile: dockerfile === null ? null : ownJson<AcceptedDockerfile>(dockerfile),
      proposal_hash,
      accepted_at,
    };
  }
  /** @throws Problem 404. */
  async function get(id: string): Promise<ProjectEnvironment> {
    assertProject(id);
    const [accepted, proposal] = [acceptedOf(id), await proposalOf(id)];
    const changed = proposal !== null && accepted?.proposal_hash !== proposal.hash;
    return { project_id: id, accepted, proposal, changed };
  }
  /** The environment that a change asks for. @throws Problem 409 `environment_changed`, 422. */
  async function readWanted(id: string, { hash, image, definition }: EnvironmentChange): Promise<Wanted> {
    if ((hash === undefined) === (definition === undefined))
      throw invalid("Give either `hash`, to accept what the repository proposes, or a `definition` of your own.");
    if (definition !== undefined) {
      if (image !== undefined) throw invalidField("/image", "Name the image in the definition");
      const [reserved] = reservedIn(definition.env);
      if (reserved !== undefined)
        throw invalidField(`/definition/env/${reserved}`, "This variable is the sandbox's own");
      if (definition.image !== undefined && definition.build !== undefined)
        throw invalidField("/definition/build", EITHER);
      return { definition, dockerfile: await pinOwn(id, definition.build), proposal_hash: null };
    }
    const proposal = await proposalOf(id);
    if (proposal === null || proposal.hash !== hash)
      throw conflict(
        "The repository proposes something else than what you read. Read it again, then accept it.",
        "environment_changed",
      );
    // Hosts that were allowed one by one stay allowed.
    const allow = [...new Set([...(proposal.definition.network?.allow ?? []), ...hostsOf(id)])];
    const { build, ...plain } = proposal.definition;
    // An image that the person names replaces the Dockerfile's.
    const made = image === undefined ? { ...plain, ...(build && { build }) } : { ...plain, image };
    const whole: Environment = { ...made, ...(allow.length === 0 ? {} : { network: { allow } }) };
    return {
      definition: whole,
      dockerfile: image === undefined ? proposal.dockerfile : null,
      proposal_hash: hash,
    };
  }
  function hostsOf(id: string): readonly string[] {
    return acceptedOf(id)?.definition.network?.allow ?? [];
  }
  function put(id: string, { definition, dockerfile, ...accepted }: Accepted): void {
    const texts = { definition: JSON.stringify(definition), dockerfile: dockerfile && JSON.stringify(dockerfile) };
    rows.put({ project_id: id, ...texts, ...accepted }, ["project_id"]);
  }
  /** Call inside the transaction of the change. */
  const record = (action: "accepted" | "host_allowed" | "removed", id: string, caller: Caller, data = {}): void =>
    store.write(({ emit }) => {
      const change = action === "removed" ? action : "accepted";
      audit({ action: `environment.${action}`, ...actedBy(caller), subject: id, data });
      emit(environmentChanged, { project_id: id, data: { change } });
    });
  return {
    get,
    /** What the sandboxes of a project's work start with. */
    of: (projectId: string): CodeEnvironment | undefined => acceptedOf(projectId)?.definition,
    definitionOf: (projectId: string): Environment | undefined => acceptedOf(projectId)?.definition,
    /** The Dockerfile of the accepted environment, as it was accepted. */
    dockerfileOf: (projectId: string): AcceptedDockerfile | null => acceptedOf(projectId)?.dockerfile ?? null,
    /** @throws Problem 404, 409 `environment_changed` when the repository's proposal has changed, 422. */
    async accept(id: string, change: EnvironmentChange, caller: Caller): Promise<ProjectEnvironment> {
      assertProject(id);
      const { definition, dockerfile, proposal_hash } = await readWanted(id, change);
      const lack = lackOfHost(hosts, definition.host_labels ?? []);
      if (lack !== undefined) throw invalidField("/definition/host_labels", lack);
      if (definition.caches && noCaches !== undefined) throw invalidField("/definition/caches", noCaches);
      const { check } = definition;
      if (check !== undefined && projects.find(id)?.check !== check) await projects.update(id, { check });
      store.write(() => {
        assertProject(id);
        put(id, { definition, dockerfile, proposal_hash, accepted_at: toTimestamp(clock.now()) });
        record("accepted", id, caller, {
          proposal_hash,
          image: definition.image ?? null,
          ...(definition.build && { dockerfile: definition.build.dockerfile }),
        });
      });
      return await get(id);
    },
    /** Findings about environments that require something which this server no longer has. */
    findings: (): Finding[] =>
      rows.list([]).flatMap((row) => {
        const { host_labels: labels = [], caches } = ownJson<Environment>(row.definition);
        const name = projects.find(row.project_id)?.name ?? row.project_id;
        const remedy = `skep projects environment ${name} --set FILE`;
        const lack = lackOfHost(hosts, labels);
        const lost = caches && noCaches;
        return [
          ...(lack === undefined ? [] : [warn("environment", `${name}: ${lack}; its work waits`, remedy)]),
          ...(lost === undefined ? [] : [warn("environment", `${name}: ${lost}; its work goes on without`, remedy)]),
        ];
      }),
    /** The hosts for which `project` stands in the allow-list of an agent that works on the project. */
    hostsOf,
    /** Adds a host to those that the project allows. @throws Problem 404, 409 `too_many_hosts`. */
    async allowHost(id: string, { host, port }: AllowedHost, caller: Caller): Promise<ProjectEnvironment> {
      store.write(() => {
        assertProject(id);
        const accepted = acceptedOf(id);
        const entry = hostEntry(host, port);
        const before = hostsOf(id);
        if (before.includes(entry)) return;
        if (before.length >= MAX_HOSTS)
          throw conflict(`The project allows ${MAX_HOSTS} hosts already. Take some out first.`, "too_many_hosts");
        const definition: Environment = { ...accepted?.definition, network: { allow: [...before, entry] } };
        const none = { dockerfile: null, proposal_hash: null, accepted_at: toTimestamp(clock.now()) };
        put(id, { ...none, ...accepted, definition });
        record("host_allowed", id, caller, { host: entry });
      });
      return await get(id);
    },
    /** Removes the environment: sandboxes then start as the agents' files and the settings say. @throws Problem 404. */
    remove: (id: string, caller: Caller): void =>
      store.write(() => {
        assertProject(id);
        if (rows.remove({ project_id: id }) === 0) throw notFound("environment");
        record("removed", id, caller);
      }),
  };
}
