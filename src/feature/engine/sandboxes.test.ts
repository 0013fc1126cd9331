/** Where agents run commands, as the server opens it. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dockerEndpoint } from "../../adapter/docker/endpoint.ts";
import { connectDocker } from "../../adapter/docker.ts";
import { systemClock } from "../../core/clock.ts";
import { readConfig } from "../../core/config.ts";
import { newId } from "../../core/ids.ts";
import { createLog } from "../../process/log.ts";
import { openStore, type Store } from "../../store/store.ts";
import { openSandboxes } from "./sandboxes.ts";

test("while the disk is full no container is started that nobody would know of", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-engine-"));
  const unix = join(folder, "docker.sock");
  const asked: string[] = [];
  const engine = Bun.serve({
    unix,
    fetch({ url, method }) {
      asked.push(`${method} ${new URL(url).pathname}`);
      return new Response("OK");
    },
  });
  const store = openStore({ path: ":memory:", clock: systemClock });
  const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
  const write: Store["write"] = () => {
    throw full;
  };
  const { driver } = await openSandboxes({
    config: readConfig({ DATA_DIR: folder }),
    ...{ clock: systemClock, log: createLog({ logLevel: "silent" }), store: { ...store, write } },
    ...{ docker: connectDocker(dockerEndpoint({ host: unix })), instanceId: newId("instance"), replaced: {} },
    folder: { cache: folder },
    settings: { get: () => ({ sandbox: {} }) as never },
  });
  const spec = { executionId: newId("execution"), sessionId: "s", agentId: "worker", home: folder };
  const limits = { network: "none", memoryMb: 64, cpus: 1, env: {} } as const;
  await expect(driver.start({ ...spec, ...limits }, new AbortController().signal)).rejects.toBe(full);
  expect(asked).toEqual(["GET /_ping"]);
  store.close();
  await engine.stop(true);
  rmSync(folder, { recursive: true });
});
