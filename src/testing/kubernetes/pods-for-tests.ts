/**
 * Sandboxes in Pods for the driver tests, in a cluster that `scripts/test-kubernetes` has started, or in the fake one.
 */
import type { DockerClient } from "../../adapter/docker.ts";
import { clusterAccess } from "../../adapter/kubernetes/access.ts";
import { connectCluster } from "../../adapter/kubernetes/cluster.ts";
import { createKubernetesSandboxes } from "../../adapter/sandbox/kubernetes/driver.ts";
import { testImage } from "../docker-image.ts";
import { startFakeCluster } from "./fake-cluster.ts";

/** One cluster for all drivers that are opened; they differ by their instance. */
export async function podsForTests(docker: DockerClient) {
  const kubeconfig = process.env["SKEP_TEST_KUBECONFIG"];
  const fake = kubeconfig === undefined ? await startFakeCluster({ docker }) : undefined;
  const access = fake?.access ?? clusterAccess({ kubeconfig, env: {} });
  const client = connectCluster(access);
  const { namespace } = access;
  const defaultImage = await testImage(docker);
  return {
    close: async () => await fake?.close(),
    async open(instanceId: string) {
      const driver = createKubernetesSandboxes({
        client,
        namespace,
        instanceId,
        defaultImage,
        pullSecrets: [],
        warmPools: [],
      });
      return {
        driver,
        records: async () =>
          JSON.stringify([await client.call("GET", `/api/v1/namespaces/${namespace}/pods`), fake?.asked]),
        end: async () => {
          await driver.sweep(() => false);
          driver.close();
        },
      };
    },
  };
}
