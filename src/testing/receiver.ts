/** An HTTP listener for notifications that keeps each request until a test takes it. */
interface Received {
  path: string;
  headers: Headers;
  body: string;
}

/** A queue of things that arrive. Each is taken once, in order. */
export function inbox<T>() {
  const waiting: T[] = [];
  const takers: ((value: T) => void)[] = [];
  return {
    waiting,
    put(value: T): void {
      const taker = takers.shift();
      if (taker) taker(value);
      else waiting.push(value);
    },
    next: (): Promise<T> =>
      waiting.length > 0 ? Promise.resolve(waiting.shift()!) : new Promise((resolve) => takers.push(resolve)),
  };
}

/** An HTTP receiver that answers as the test has set it. */
export function openReceiver() {
  const requests = inbox<Received>();
  const receiver = { status: 200, ...requests, url: "", close: async () => {} };
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      requests.put({ path: new URL(request.url).pathname, headers: request.headers, body });
      const headers = receiver.status === 302 ? { Location: "http://127.0.0.1:1/" } : {};
      return new Response(null, { status: receiver.status, headers });
    },
  });
  receiver.url = `http://127.0.0.1:${http.port}`;
  receiver.close = () => http.stop(true);
  return receiver;
}
