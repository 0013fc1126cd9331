/**
 * A raw TCP connection. No client corrects what is sent, ends a body in time, or closes the connection when it should.
 */
import { Socket } from "node:net";
import type { TestServer } from "./server.ts";

export interface RawConnection {
  /** Resolves when the kernel has taken the data. After the server has closed, it does nothing. */
  send(data: string | Uint8Array): Promise<void>;
  /** What was received so far. */
  text(): string;
  /** Resolves once the received text matches, or with all of the text if the server closes before that. */
  until(pattern: RegExp): Promise<string>;
  /** The status of the last answer, ignoring 100; 0 if the server closed without one. */
  status(): Promise<number>;
  /** Everything that was received until the server closed. */
  readUntilClose(): Promise<string>;
  readonly isOpen: boolean;
  destroy(): void;
}

const ANSWER = /HTTP\/1\.1 ([2-5]\d\d)/;

export async function rawConnection(server: Pick<TestServer, "url">): Promise<RawConnection> {
  const socket = new Socket();
  let text = "";
  let isOpen = true;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of [...waiting]) look();
  };
  const when = (ready: () => boolean) =>
    new Promise<string>((resolve) => {
      const look = () => {
        if (!ready()) return;
        waiting.delete(look);
        resolve(text);
      };
      waiting.add(look);
      look();
    });
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    wake();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isOpen = false;
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.connect(Number(new URL(server.url).port), "127.0.0.1", resolve);
  });
  const until = (pattern: RegExp) => when(() => pattern.test(text) || !isOpen);
  return {
    send: (data) =>
      new Promise((resolve) => {
        if (!isOpen || socket.destroyed) return resolve();
        waiting.add(function gone() {
          if (isOpen) return;
          waiting.delete(gone);
          resolve();
        });
        socket.write(data, () => resolve());
      }),
    text: () => text,
    until,
    status: async () => Number(ANSWER.exec(await until(ANSWER))?.[1] ?? 0),
    readUntilClose: () => when(() => !isOpen),
    get isOpen() {
      return isOpen;
    },
    destroy: () => void socket.destroy(),
  };
}

interface HeldRequest {
  /** Sends the last byte. @returns the status. */
  finish(): Promise<number>;
  connection: RawConnection;
}

/** Sends a request except for its last byte. Resolves once the server has accepted it (`100 Continue`). */
export async function heldRequest(
  server: TestServer,
  { method = "POST", path, token, body }: { method?: string; path: string; token: string; body: unknown },
): Promise<HeldRequest> {
  const connection = await rawConnection(server);
  const json = JSON.stringify(body);
  await connection.send(
    [
      `${method} ${path} HTTP/1.1`,
      `Host: ${new URL(server.url).host}`,
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(json)}`,
      "Expect: 100-continue",
      "\r\n",
    ].join("\r\n"),
  );
  await connection.until(/100 Continue/);
  await connection.send(json.slice(0, -1));
  return {
    connection,
    async finish() {
      await connection.send(json.slice(-1));
      const status = await connection.status();
      connection.destroy();
      return status;
    },
  };
}
