/**
 * Labels of container engines, by which agents and projects choose where they work. A host's name is also one of its
 * labels.
 */
import { Type as t } from "@sinclair/typebox";

const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const isHostLabel = (text: string): boolean => LABEL.test(text);

export const HostLabels = t.Array(
  t.String({ pattern: LABEL.source, description: "Letters, digits, dots, dashes and underscores; at most 63." }),
  {
    maxItems: 10,
    uniqueItems: true,
    description:
      "Labels that a host of DOCKER_HOSTS must all have to do the work. A host's name is one of its labels. An empty list allows any host.",
  },
);

export interface LabeledHost {
  name: string;
  /** Labels in addition to its name. */
  labels: readonly string[];
}

export const hasLabels = ({ name, labels }: LabeledHost, wanted: readonly string[]): boolean =>
  wanted.every((label) => label === name || labels.includes(label));

/** Says why no host fits these labels, as a sentence without its full stop. Undefined when a host has them all. */
export function lackOfHost(hosts: readonly LabeledHost[], wanted: readonly string[]): string | undefined {
  if (wanted.length === 0 || hosts.some((host) => hasLabels(host, wanted))) return undefined;
  const labels = wanted.join(", ");
  if (hosts.length === 0) return `No host has the labels ${labels}, since DOCKER_HOSTS names no hosts`;
  const there = hosts.map(({ name, labels: own }) => (own.length === 0 ? name : `${name} (${own.join(", ")})`));
  return `No host has the labels ${labels}. There are: ${there.join("; ")}`;
}
