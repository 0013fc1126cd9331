/**
 * The files of a sandbox in a Pod. They are carried: what the server has goes there before a command runs, and what a command
 * changed comes back when it is asked. File tools work on the server's copy, which is made current first.
 */
import { codeOf, type Problem } from "../../../core/errors.ts";
import type { Workspace } from "../../../engine/sandbox.ts";
import { createCarriedFolder } from "../detached/carried-folder.ts";
import { type Carrier, createCarrier, lost } from "../detached/carrier.ts";
import { createWorkspaceFiles } from "../workspace-files.ts";
import type { createPodCommands } from "./container.ts";

interface CarriedFilesDeps {
  /** Absolute path of the folder on this host. */
  home: string;
  /** The folder in the Pod. */
  folder: string;
  /** The program in the Pod. */
  program: string;
  commands: Pick<ReturnType<typeof createPodCommands>, "talk">;
}

export function createCarriedFiles({ home, folder, program, commands }: CarriedFilesDeps) {
  const carried = createCarriedFolder(home);
  const near = createWorkspaceFiles(home);
  let connection: Promise<Carrier> | undefined;
  let hangUp = () => {};
  /** Whether anything there may have changed the files. */
  let hasWorked = false;
  let closed: Problem | undefined;

  async function connect(): Promise<Carrier> {
    let write = async (_data: Uint8Array): Promise<void> => {};
    let detach = () => {};
    const over = () => {
      if (connection === own) connection = undefined;
      detach();
    };
    const carrier = createCarrier((data) => write(data), over);
    const own = connection;
    const exec = await commands.talk([program, folder], carrier.feed);
    write = exec.write;
    detach = exec.detach;
    hangUp = exec.detach;
    const end = () => carrier.end(lost("the connection to them ended"));
    exec.closed.then(end, end);
    return carrier;
  }
  const connectCarrier = (): Promise<Carrier> => {
    connection ??= connect().catch((error) => {
      connection = undefined;
      throw error;
    });
    return connection;
  };
  /** An agent that ends all of its processes ends the carrier, too: it is started again once. */
  async function withCarrier(act: (carrier: Carrier) => Promise<void>): Promise<void> {
    if (closed) throw closed;
    try {
      await act(await connectCarrier());
    } catch (error) {
      if (codeOf(error) !== "sandbox_lost" || closed) throw error;
      connection = undefined;
      await act(await connectCarrier());
    }
  }
  const bringBack = async (): Promise<void> => {
    if (hasWorked && !closed) await withCarrier(carried.bringBack);
  };
  const workspace: Workspace = {
    bringBack,
    async read(path) {
      await bringBack();
      return await near.read(path);
    },
    async write(path, data) {
      await bringBack();
      await near.write(path, data);
      await withCarrier(carried.bringIn);
    },
    async list(path) {
      await bringBack();
      return await near.list(path);
    },
    async walk(path, options) {
      await bringBack();
      return await near.walk(path, options);
    },
  };
  return {
    workspace,
    /** Makes the folder there what it is here. */
    reset: () => withCarrier(carried.reset),
    /** Before a command: takes there what the server has changed. */
    async prepare(): Promise<void> {
      await withCarrier(carried.bringIn);
      hasWorked = true;
    },
    /** Nothing is carried any more. */
    close(why: Problem): void {
      closed ??= why;
      hangUp();
    },
  };
}
