/**
 * Compares a Pod that somebody else described with Skep's own. An agent may work in it if it has all restrictions of
 * Skep's Pod, and adds nothing that could weaken them.
 */
import { isObject, membersOf } from "../../../core/is-object.ts";
import { POD_LABELS, type podManifest } from "./pod.ts";

/**
 * Fields of Skep's Pod that another Pod need not have: a claim has its own deadline, and a pool's nodes may pull images
 * with another secret.
 */
const NOT_ASKED: ReadonlySet<string> = new Set(["activeDeadlineSeconds", "hostname", "imagePullSecrets"]);

/**
 * Fields that another Pod may add because they weaken nothing: where it runs, and what an API server fills in. Each is
 * a path; `*` stands for an item of a list.
 */
const HARMLESS: ReadonlySet<string> = new Set(
  `
    activeDeadlineSeconds affinity dnsConfig dnsPolicy hostname imagePullSecrets nodeName nodeSelector overhead
    preemptionPolicy priority priorityClassName schedulerName serviceAccount serviceAccountName tolerations
    topologySpreadConstraints securityContext.fsGroupChangePolicy securityContext.supplementalGroupsPolicy
    containers.*.terminationMessagePath containers.*.terminationMessagePolicy containers.*.resizePolicy
    containers.*.resources.requests containers.*.resources.limits.ephemeral-storage
  `
    .trim()
    .split(/\s+/),
);

/** Fields that may be added only with this value; newer API servers add them. */
const HARMLESS_AS: Readonly<Record<string, unknown>> = { "containers.*.securityContext.procMount": "Default" };

/**
 * @param pod a Pod, or the `podTemplate` of a SandboxTemplate. @returns the first difference in words; undefined when
 * there is none.
 */
export function podDifference(ours: ReturnType<typeof podManifest>, pod: unknown): string | undefined {
  const label = membersOf(membersOf(membersOf(pod)["metadata"])["labels"])[POD_LABELS.network];
  const asked = ours.metadata.labels[POD_LABELS.network];
  if (label !== asked)
    return `its label ${POD_LABELS.network} is ${formatValue(label)}, ${formatValue(asked)} is asked for`;
  const wanted = Object.fromEntries(Object.entries(ours.spec).filter(([name]) => !NOT_ASKED.has(name)));
  const [container] = ours.spec.containers;
  const containers = [{ ...container, resources: { limits: container?.resources.limits } }];
  return findDifference({ ...wanted, containers }, membersOf(pod)["spec"], "", "");
}

/** @param at path for people. @param rule the same path with `*` for items of lists. */
function findDifference(ours: unknown, theirs: unknown, at: string, rule: string): string | undefined {
  const joinPath = (name: string, path: string) => (path === "" ? name : `${path}.${name}`);
  if (Array.isArray(ours)) {
    const others: readonly unknown[] = Array.isArray(theirs) ? theirs : [];
    if (others.length !== ours.length) return `${at} has ${others.length} entries, ${ours.length} are asked for`;
    for (const [n, one] of ours.entries()) {
      const found = findDifference(one, others[n], joinPath(String(n), at), joinPath("*", rule));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(ours)) {
    const same = ours === theirs || (quantityOf(ours) ?? Number.NaN) === quantityOf(theirs);
    return same ? undefined : `${at} is ${formatValue(theirs)}, ${formatValue(ours)} is asked for`;
  }
  const others = membersOf(theirs);
  for (const [name, value] of Object.entries(others)) {
    if (name in ours || HARMLESS.has(joinPath(name, rule)) || HARMLESS_AS[joinPath(name, rule)] === value) continue;
    return `it adds ${joinPath(name, at)}`;
  }
  for (const [name, value] of Object.entries(ours)) {
    const found = findDifference(value, others[name], joinPath(name, at), joinPath(name, rule));
    if (found !== undefined) return found;
  }
  return undefined;
}

const UNITS: Readonly<Record<string, number>> = {
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** Parses a quantity, because API servers write quantities in their own form: 1000m as 1, 10240Mi as 10Gi. */
export function quantityOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  const [, count, unit = ""] = typeof value === "string" ? (/^(\d{1,15})(m|k|M|G|Ki|Mi|Gi)?$/.exec(value) ?? []) : [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 1);
}

const formatValue = (value: unknown): string => (value === undefined ? "missing" : JSON.stringify(value).slice(0, 100));
