/** Options of the configuration for agents that work in Pods of a Kubernetes cluster. */
import { list, option, text } from "./config-option.ts";

export const KUBERNETES_OPTIONS = {
  kubernetesConfig: option<string | undefined>({
    env: "KUBERNETES_CONFIG",
    about: "Kubeconfig file of the cluster for SANDBOX=kubernetes; unset: the service account of the server's own Pod.",
    accepts: "a path",
    default: undefined,
    read: text,
  }),
  kubernetesContext: option<string | undefined>({
    env: "KUBERNETES_CONTEXT",
    about: "Context of the kubeconfig file; unset: its current one.",
    accepts: "a name",
    default: undefined,
    read: text,
  }),
  kubernetesNamespace: option<string | undefined>({
    env: "KUBERNETES_NAMESPACE",
    about: "Namespace of the agents' Pods; unset: the one that the context or the service account names.",
    accepts: "a name of lower-case letters, digits and dashes",
    default: undefined,
    read: (v) => (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(v) ? v : undefined),
  }),
  kubernetesPullSecrets: option<string[]>({
    env: "KUBERNETES_PULL_SECRETS",
    about: "Secrets of the namespace with which the cluster's nodes get agents' images.",
    accepts: "names, separated by commas",
    default: [],
    read: list,
  }),
  kubernetesWarmPools: option<string[]>({
    env: "KUBERNETES_WARM_POOLS",
    about:
      "SandboxWarmPools of the namespace (kubernetes-sigs/agent-sandbox) that give agents their Pods where they fit.",
    accepts: "names, separated by commas",
    default: [],
    read: list,
  }),
};
