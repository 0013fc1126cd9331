/** Attaches files to a message. */
import { assertFile, readFile } from "../read-input.ts";
import type { Client } from "../server/client.ts";

export interface Attached {
  id: string;
  filename: string;
}
interface Uploaded extends Attached {
  status: "ready" | "processing" | "failed";
}

const LOOK_MS = 200;
/** How long to wait until the server has extracted an attachment's text; the message may be sent before that. */
const PATIENCE_MS = 30_000;

/**
 * Uploads files and waits until the server has read them. @throws Problem 422 `unreadable`, before any file is
 * uploaded.
 */
export async function attachFiles(client: Client, sessionId: string, files: readonly string[]): Promise<Attached[]> {
  files.forEach(assertFile);
  return Promise.all(
    files.map(async (file) => {
      const fields = { session_id: sessionId };
      let made = await client.upload<Uploaded>("/v1/attachments/upload", await readFile(file), fields);
      for (const end = Date.now() + PATIENCE_MS; made.status === "processing" && Date.now() < end; ) {
        await Bun.sleep(LOOK_MS);
        made = await client.call("GET", `/v1/attachments/${made.id}`);
      }
      return { id: made.id, filename: made.filename };
    }),
  );
}
