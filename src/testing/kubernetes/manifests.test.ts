/** The files of docs/kubernetes: the server and its agents' namespace, as plain manifests and as a chart. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import manifest from "../../../package.json" with { type: "json" };
import { POD_RIGHTS, type Right } from "../../adapter/sandbox/kubernetes/rights.ts";
import { readConfig } from "../../core/config.ts";
import { listIn, membersOf, textIn } from "../../core/is-object.ts";
import { KUBERNETES_DOCS, manifestsIn, renderChart } from "./chart.ts";

const read = (name: string): string => readFileSync(join(KUBERNETES_DOCS, name), "utf8");
const within = (object: unknown, ...path: string[]): unknown =>
  path.reduce((value, name) => membersOf(value)[name], object);
const SERVER = "StatefulSet skep/skep";
const podOf = (all: ReturnType<typeof manifestsIn>) => within(all.get(SERVER), "spec", "template", "spec");

test("the chart with its own values makes what the plain manifests make", () => {
  const chart = manifestsIn(renderChart());
  const plain = new Map([...manifestsIn(read("agents.yml")), ...manifestsIn(read("server.yml"))]);
  // helm creates the release's namespace, and the account in the agents' namespace is for a server outside of the
  // cluster.
  for (const only of ["Namespace /skep", "ServiceAccount skep-agents/skep", "RoleBinding skep-agents/skep"])
    expect(plain.delete(only)).toBe(true);
  const template = membersOf(within(chart.get(SERVER), "spec", "template", "metadata"));
  expect(Object.keys(membersOf(template["annotations"]))).toEqual(["skep.settings"]);
  delete template["annotations"];
  const sortByKey = (all: typeof plain) => Object.fromEntries([...all].toSorted(([a], [b]) => a.localeCompare(b)));
  expect(sortByKey(chart)).toEqual(sortByKey(plain));
});

test("the agents' role grants exactly what the server asks for, in that namespace alone, and the server has no other", () => {
  const all = new Map([...manifestsIn(read("agents.yml")), ...manifestsIn(read("server.yml"))]);
  const kinds = [...all.keys()].filter((key) => /Role/.test(key));
  expect(kinds).toEqual([
    "Role skep-agents/skep",
    "RoleBinding skep-agents/skep",
    "RoleBinding skep-agents/skep-server",
  ]);
  const granted = listIn(all.get(kinds[0]!), "rules").flatMap((rule) =>
    listIn(rule, "apiGroups").flatMap((group) =>
      listIn(rule, "resources").flatMap((resource) =>
        listIn(rule, "verbs").map((verb) => [verb, resource, group].join(" ")),
      ),
    ),
  );
  const formatRight = ({ verb, resource, subresource, group = "" }: Right) =>
    [verb, [resource, subresource].filter(Boolean).join("/"), group].join(" ");
  expect(granted.toSorted()).toEqual(POD_RIGHTS.map(formatRight).toSorted());
});

test("the server's Pod is what the standard `restricted` asks for, and its variables are settings that the server takes", () => {
  const pod = podOf(manifestsIn(read("server.yml")));
  const [container, ...others] = listIn(pod, "containers");
  expect(others).toEqual([]);
  expect(within(pod, "securityContext")).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 10_001,
    fsGroup: 10_001,
    seccompProfile: { type: "RuntimeDefault" },
  });
  expect(within(container, "securityContext")).toEqual({
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(listIn(pod, "volumes").flatMap((volume) => Object.keys(membersOf(volume)))).toEqual(["name", "emptyDir"]);
  const env = Object.fromEntries(
    listIn(container, "env").map((pair) => [textIn(pair, "name") ?? "", textIn(pair, "value") ?? ""]),
  );
  const config = readConfig({ ...env, KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" });
  expect(config).toMatchObject({
    sandbox: "kubernetes",
    kubernetesNamespace: "skep-agents",
    kubernetesPullSecrets: [],
    kubernetesWarmPools: [],
    agentImage: "registry.example.org/agent:1",
    authRequired: true,
  });
});

test("the chart's values go where they belong, all of them are described, and its version is the product's", () => {
  const settings = { PUBLIC_URL: "https://skep.example.org" };
  const ingress = { host: "skep.example.org", className: "nginx", tlsSecret: "skep-tls", annotations: { a: "b" } };
  const values = {
    agentNamespace: "robots",
    agentImage: 'a"b',
    settings,
    ingress,
    storageClass: "fast",
    agentWarmPools: "a,b",
  };
  const all = manifestsIn(renderChart(values, "tools"));
  expect([...all.keys()].toSorted()).toEqual([
    "ConfigMap tools/skep",
    "Ingress tools/skep",
    "Namespace /robots",
    "NetworkPolicy robots/skep-closed",
    "NetworkPolicy robots/skep-open",
    "Role robots/skep",
    "Role robots/skep-warm-pools",
    "RoleBinding robots/skep-server",
    "RoleBinding robots/skep-warm-pools",
    "Service tools/skep",
    "ServiceAccount tools/skep",
    "StatefulSet tools/skep",
  ]);
  expect(within(all.get("ConfigMap tools/skep"), "data")).toEqual(settings);
  expect(within(all.get("Ingress tools/skep"), "spec")).toMatchObject({
    ingressClassName: "nginx",
    tls: [{ hosts: ["skep.example.org"], secretName: "skep-tls" }],
    rules: [{ host: "skep.example.org" }],
  });
  for (const name of ["server", "warm-pools"])
    expect(listIn(all.get(`RoleBinding robots/skep-${name}`), "subjects")).toMatchObject([{ namespace: "tools" }]);
  const role = "Role skep-agents/skep-warm-pools";
  const plain = manifestsIn(read("warm-pool.yml")).get(role);
  expect(manifestsIn(renderChart({ agentWarmPools: "a" })).get(role)).toEqual(plain);
  const server = JSON.stringify(all.get("StatefulSet tools/skep"));
  for (const part of ['"value":"robots"', '"value":"a,b"', '"value":"a\\"b"', '"storageClassName":"fast"'])
    expect(server).toContain(part);
  const hash = (text: string) => /skep\.settings":"(\w{64})/.exec(text)?.[1];
  const before = hash(JSON.stringify([...manifestsIn(renderChart())]));
  expect(before).toMatch(/^\w/);
  expect(hash(server)).not.toBe(before);
  const described = membersOf(parse(read("chart/values.schema.json")))["properties"];
  const given = membersOf(parse(read("chart/values.yaml")));
  expect(Object.keys(membersOf(described))).toEqual(["global", ...Object.keys(given)]);
  expect(Object.keys(membersOf(within(described, "ingress", "properties")))).toEqual(
    Object.keys(membersOf(given["ingress"])),
  );
  const { version, appVersion } = membersOf(parse(read("chart/Chart.yaml")));
  expect([version, appVersion]).toEqual([manifest.version, manifest.version]);
});
