/**
 * The files of a sandbox in a Pod, which are carried: the server's changes go there before a command runs, and a
 * command's changes come back when they are asked for. File tools work on the server's copy, which is first brought up
 * to date.
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
  /** Path of the carrier in the Pod. */
  program: string;
  commands: Pick<ReturnType<typeof createPodCommands>, "talk">;
}

export function createCarriedFiles({ home, folder, program, commands }: CarriedFilesDeps) {
  const carried = createCarriedFolder(home);
  const near = createWorkspaceFiles(home);
  const { use, end } = createCarrying((feed) => commands.talk([program, folder], feed));
  /** Whether a command may have changed the files in the Pod. */
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
    /** Makes the folder in the Pod the same as here. */
    reset: () => use(carried.reset),
    /** Carries the server's changes to the Pod, before a command runs. */
    async prepare(): Promise<void> {
      await use(carried.bringIn);
      hasWorked = true;
    },
    /** Stops carrying files. */
    close(why: Problem): void {
      isClosed = true;
      end(why);
    },
  };
}
