import type { Workspace } from "../../../engine/sandbox.ts";

/** The server's copy of carried files. Every access first brings back the sandbox's changes. */
export const carriedWorkspace = (
  near: Workspace,
  bringBack: () => Promise<void>,
  write: Workspace["write"],
): Workspace => ({
  bringBack,
  async read(path) {
    await bringBack();
    return await near.read(path);
  },
  async write(path, data) {
    await bringBack();
    await write(path, data);
  },
  async list(path) {
    await bringBack();
    return await near.list(path);
  },
  async walk(path, options) {
    await bringBack();
    return await near.walk(path, options);
  },
});
