import { describe, expect, test } from "bun:test";
import { unavailable } from "../../core/errors.ts";
import { chooseSandbox } from "./choice.ts";
import { createProcessSandboxes } from "./process/driver.ts";

const inProcess = createProcessSandboxes({ allowHostShell: false });
const driver = { ...inProcess, name: "docker" };
const engine = (isThere: boolean, wasUsed = false) => ({
  driver,
  ping: () => (isThere ? Promise.resolve() : Promise.reject(unavailable("sandbox_unavailable", "It does not answer."))),
  wasUsed: () => wasUsed,
});
const choose = async (...how: [wanted: "auto" | "docker" | "process", found?: ReturnType<typeof engine>]) => {
  const choice = await chooseSandbox(how[0], how[1], inProcess);
  return [choice.driver.name, choice.waits];
};

describe("the sandbox of a server", () => {
  test("is what the operator asks for, and there is no server without the engine that is asked for", async () => {
    expect(await choose("process", engine(true, true))).toEqual(["process", false]);
    expect(await choose("docker", engine(true))).toEqual(["docker", false]);
    await expect(choose("docker", engine(false, true))).rejects.toMatchObject({ code: "sandbox_unavailable" });
  });

  test("is containers where an engine answers, and the server's process where none does", async () => {
    expect(await choose("auto", engine(true))).toEqual(["docker", false]);
    expect(await choose("auto", engine(false))).toEqual(["process", false]);
    expect(await choose("auto")).toEqual(["process", false]);
  });

  test("stays containers once agents have worked in them: work waits for the engine", async () => {
    expect(await choose("auto", engine(false, true))).toEqual(["docker", true]);
  });
});
