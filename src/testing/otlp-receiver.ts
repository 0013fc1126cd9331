/**
 * A receiver of OTLP over HTTP that can behave like faulty ones. Each request uses the next fault; without one, it is
 * accepted. All received bytes are kept.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type ReceiverFault =
  | { kind: "status"; status: number; headers?: Record<string, string> }
  /** Never answers. */
  | { kind: "hang" }
  /** Closes the connection without an answer. */
  | { kind: "cut" }
  /** Accepts the data with an answer that never ends. */
  | { kind: "endless" };

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code?: number };
  /** Attributes by name; whole numbers are bigints. */
  attributes: Record<string, unknown>;
}

interface Received {
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface OtlpReceiver {
  /** `http://127.0.0.1:port`. */
  origin: string;
  /** All requests, including refused ones. */
  requests: Received[];
  next(...faults: ReceiverFault[]): void;
  /** The spans of accepted requests, in order of arrival. */
  spans(): ReceivedSpan[];
  /** Resolves with what `find` finds. It is called again after each request. */
  until<T>(find: () => T | undefined | false): Promise<T>;
  stop(): void;
}

interface Keyed {
  key: string;
  value: Record<string, unknown>;
}

function readValue(value: Record<string, unknown>): unknown {
  if ("intValue" in value) return BigInt(value["intValue"] as string);
  if ("arrayValue" in value)
    return (value["arrayValue"] as { values: Record<string, unknown>[] }).values.map(readValue);
  return Object.values(value)[0];
}

function spansOf(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: (Omit<ReceivedSpan, "attributes"> & { attributes: Keyed[] })[] }[] }[];
  };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => ({
      ...span,
      attributes: Object.fromEntries(span.attributes.map(({ key, value }) => [key, readValue(value)])),
    }));
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const requests: Received[] = [];
  const taken: string[] = [];
  const faults: ReceiverFault[] = [];
  const looking = new Set<() => void>();

  function answer(body: string, response: ServerResponse): void {
    const fault = faults.shift();
    if (fault === undefined || fault.kind === "endless") taken.push(body);
    if (fault === undefined) response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    else if (fault.kind === "status") response.writeHead(fault.status, fault.headers).end();
    else if (fault.kind === "cut") response.destroy();
    else if (fault.kind === "endless") {
      response.writeHead(200, { "Content-Type": "application/json" });
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more).on("error", () => {});
      more();
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    answer(body, response);
    for (const look of [...looking]) look();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    next: (...more) => void faults.push(...more),
    spans: () => taken.flatMap(spansOf),
    until: <T>(find: () => T | undefined | false) =>
      new Promise<T>((resolve) => {
        const look = (): void => {
          const found = find();
          if (found === undefined || found === false) return;
          looking.delete(look);
          resolve(found);
        };
        looking.add(look);
        look();
      }),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
