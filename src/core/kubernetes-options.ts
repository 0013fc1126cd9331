/** Options of the configuration for agents that work in Pods of a Kubernetes cluster. */
import { listOption, optional, text } from "./config-option.ts";

export const KUBERNETES_OPTIONS = {
  kubernetesConfig: optional(
    "KUBERNETES_CONFIG",
    "Kubeconfig file of the cluster for SANDBOX=kubernetes; unset: the service account of the server's own Pod.",
    "a path",
    text,
  ),
  kubernetesContext: optional(
    "KUBERNETES_CONTEXT",
    "Context of the kubeconfig file; unset: its current one.",
    "a name",
    text,
  ),
  kubernetesNamespace: optional(
    "KUBERNETES_NAMESPACE",
    "Namespace of the agents' Pods; unset: the one that the context or the service account names.",
    "a name of lower-case letters, digits and dashes",
    (v) => (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(v) ? v : undefined),
  ),
  kubernetesPullSecrets: listOption(
    "KUBERNETES_PULL_SECRETS",
    "Secrets of the namespace that the cluster's nodes pull agents' images with.",
    "names, separated by commas",
  ),
  kubernetesWarmPools: listOption(
    "KUBERNETES_WARM_POOLS",
    "SandboxWarmPools of the namespace (kubernetes-sigs/agent-sandbox) that provide agents' Pods when they fit.",
    "names, separated by commas",
  ),
};
