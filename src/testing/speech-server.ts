/**
 * A fake speech service on loopback with the wire formats of OpenAI, local servers and ElevenLabs. It records its
 * requests.
 */

interface SpeechAsked {
  path: string;
  key: string | null;
  body: Record<string, unknown>;
}

export interface SpeechServer {
  url: string;
  asked: SpeechAsked[];
  /** Status of the next answers; with 200 it returns speech. */
  status: number;
  stop(): Promise<void>;
}

export function startSpeechServer(): SpeechServer {
  const asked: SpeechAsked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const key = request.headers.get("authorization") ?? request.headers.get("xi-api-key");
      const body = request.method === "POST" ? ((await request.json()) as Record<string, unknown>) : {};
      asked.push({ path: pathname, key, body });
      if (state.status !== 200) return new Response("no", { status: state.status });
      if (pathname.endsWith("/audio/voices"))
        return Response.json({ voices: ["af_heart", { id: "bm_lewis", name: "Lewis" }, 7] });
      if (pathname === "/v1/voices")
        return Response.json({
          voices: [
            { voice_id: "v1", name: "Rachel", labels: { language: "en" }, preview_url: "https://example.test/p.mp3" },
            {},
          ],
        });
      const text = String(body["input"] ?? body["text"] ?? "");
      return new Response(`<sound of ${text}>`, { headers: { "character-cost": String(text.length) } });
    },
  });
  const state: SpeechServer = {
    url: server.url.origin,
    asked,
    status: 200,
    stop: () => server.stop(true),
  };
  return state;
}
