/**
 * Asks the cluster whether the server has the rights it needs in its namespace; `docs/kubernetes/agents.yml` grants
 * them.
 */
import { isProblem, unavailable } from "../../../core/errors.ts";
import { membersOf } from "../../../core/is-object.ts";
import type { Cluster } from "../../kubernetes/cluster.ts";

export interface Right {
  verb: string;
  resource: string;
  subresource?: string;
  /** API group; the core group when absent. */
  group?: string;
}

export const POD_RIGHTS: readonly Right[] = [
  ...["get", "list", "watch", "create", "delete"].map((verb) => ({ verb, resource: "pods" })),
  ...["get", "create"].map((verb) => ({ verb, resource: "pods", subresource: "exec" })),
  { verb: "list", resource: "events" },
];

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const NO_ANSWER = new Set(["kubernetes_forbidden", "kubernetes_not_found", "kubernetes_error"]);

/**
 * @returns the missing rights in words; none when the cluster does not tell. @throws Problem when it does not answer.
 */
export async function missingRights(
  { client, namespace }: { client: Cluster; namespace: string },
  rights: readonly Right[],
  signal: AbortSignal,
): Promise<string[]> {
  const all = await Promise.all(
    rights.map(async (right) => ((await isGranted(client, namespace, right, signal)) ? [] : [wordsOf(right)])),
  );
  return all.flat();
}

/** @throws Problem 503 `kubernetes_forbidden` that names each missing right. */
export async function assertRights(
  place: { client: Cluster; namespace: string },
  rights: readonly Right[],
  signal: AbortSignal,
): Promise<void> {
  const missing = await missingRights(place, rights, signal);
  if (missing.length === 0) return;
  throw unavailable(
    "kubernetes_forbidden",
    `The server may not do this in the namespace ${place.namespace}: ${missing.join(", ")}. Apply docs/kubernetes/agents.yml, and use its service account.`,
  );
}

async function isGranted(client: Cluster, namespace: string, right: Right, signal: AbortSignal): Promise<boolean> {
  const { verb, resource, subresource, group = "" } = right;
  const resourceAttributes = {
    namespace,
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
  };
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  };
  try {
    const answer = await client.call("POST", REVIEWS, { body, signal });
    return membersOf(membersOf(answer)["status"])["allowed"] === true;
  } catch (error) {
    // Some clusters answer this question only for administrators. Then the first refused call tells what is missing.
    if (isProblem(error) && NO_ANSWER.has(error.code)) return true;
    throw error;
  }
}

const wordsOf = ({ verb, resource, subresource, group }: Right): string =>
  `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}${group === undefined ? "" : `.${group}`}`;
