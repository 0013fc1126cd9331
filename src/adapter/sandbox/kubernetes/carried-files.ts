/**
 * The files of a sandbox in a Pod. They are carried: what the server has goes there before a command runs, and what a command
 * changed comes back when it is asked. File tools work on the server's copy, which is made current first.
 */
import type { Problem } from "../../../core/errors.ts";
import { createCarriedFolder } from "../detached/carried-folder.ts";
import { carriedWorkspace } from "../detached/carried-workspace.ts";
import { createCarrying } from "../detached/carrying.ts";
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
  const { use, end } = createCarrying((feed) => commands.talk([program, folder], feed));
  /** Whether anything there may have changed the files. */
  let hasWorked = false;
  let isClosed = false;
  const bringBack = async (): Promise<void> => {
    if (hasWorked && !isClosed) await use(carried.bringBack);
  };
  return {
    workspace: carriedWorkspace(near, bringBack, async (path, data) => {
      await near.write(path, data);
      await use(carried.bringIn);
    }),
    /** Makes the folder there what it is here. */
    reset: () => use(carried.reset),
    /** Before a command: takes there what the server has changed. */
    async prepare(): Promise<void> {
      await use(carried.bringIn);
      hasWorked = true;
    },
    /** Nothing is carried any more. */
    close(why: Problem): void {
      isClosed = true;
      end(why);
    },
  };
}
