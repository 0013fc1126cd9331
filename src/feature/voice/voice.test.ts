import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readWav } from "../../core/wav.ts";
import { lacks } from "../../testing/parts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { type SpeechServer, startSpeechServer } from "../../testing/speech-server.ts";
import type { AgentTtsSettings, SpeechKept, TtsCall } from "./model.ts";

const espeak = Bun.which("espeak-ng");
let speech: SpeechServer;
let server: TestServer;
beforeAll(async () => {
  speech = startSpeechServer();
  server = await startServer({
    env: {
      OPENAI_API_KEY: "sk-speech-key",
      OPENAI_BASE_URL: `${speech.url}/v1`,
      ELEVENLABS_API_KEY: "el-speech-key",
      ELEVENLABS_BASE_URL: speech.url,
      LOCALVOICE_URL: `${speech.url}/local/v1`,
    },
  });
});
afterAll(async () => {
  await server.remove();
  await speech.stop();
});
beforeEach(async () => {
  speech.status = 200;
  speech.asked.length = 0;
  await instance({
    enabled: true,
    provider: "openai",
    voice_id: null,
    model: null,
    format: "mp3",
    speed: 1,
    max_characters: 4_000,
  });
  await server.request("PUT", "/v1/agents/scribe/tts-settings", {
    body: { enabled: null, provider: null, voice_id: null, model: null, format: null, speed: null },
  });
});

const instance = (body: object) => server.request("PUT", "/v1/admin/tts-settings", { body });
const speak = (body: object) =>
  server.request<string & { code: string }>("POST", "/v1/internal/tts/synthesize", {
    body: { agent_id: "scribe", ...body },
  });
const calls = async () => (await server.request<{ items: TtsCall[] }>("GET", "/v1/tts-calls")).body.items;

describe("speech", () => {
  test("is made by the chosen service with its key, sentence first, and logged with characters and bytes", async () => {
    await instance({ voice_id: "nova", model: "tts-1", speed: 1.5 });
    const answer = await speak({ text: "First one. **Second** one.\n```\ncode\n```" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("audio/mpeg");
    expect(answer.body).toBe("<sound of First one.><sound of Second one.>" as never);
    expect(speech.asked).toEqual([
      {
        path: "/v1/audio/speech",
        key: "Bearer sk-speech-key",
        body: { model: "tts-1", input: "First one.", voice: "nova", response_format: "mp3", speed: 1.5 },
      },
      expect.objectContaining({ body: expect.objectContaining({ input: "Second one." }) }),
    ]);
    const [call] = await calls();
    expect(call).toMatchObject({
      id: answer.headers.get("x-tts-call-id")!,
      agent_id: "scribe",
      provider: "openai",
      voice_id: "nova",
      characters: 22,
      bytes: 43,
      cached: false,
      error: null,
    });
    expect(call!.cost_usd).toBeCloseTo(21 * 15e-6, 6);
  });

  test("asked for as JSON is kept as the caller's attachment, with the sound's own bytes", async () => {
    const body = { agent_id: "scribe", text: "Keep this." };
    const headers = { Accept: "application/json" };
    const kept = await server.request<SpeechKept>("POST", "/v1/internal/tts/synthesize", { body, headers });
    const { attachment_id: id, call_id, media_type, size_bytes } = kept.body;
    expect([kept.status, media_type, size_bytes]).toEqual([200, "audio/mpeg", "<sound of Keep this.>".length]);
    expect((await calls())[0]).toMatchObject({ id: call_id, bytes: size_bytes });
    const shown = await server.request("GET", `/v1/attachments/${id}`);
    expect(shown.body).toMatchObject({ id, filename: `${call_id}.mp3`, media_type: "audio/mpeg" });
  });

  test("made once is not made again: the same text, voice and format costs nothing", async () => {
    const body = { text: `Again ${crypto.randomUUID()}.`, voice_id: "sage" };
    const first = await speak(body);
    const asked = speech.asked.length;
    expect((await speak(body)).body).toBe(first.body);
    expect(speech.asked).toHaveLength(asked);
    expect((await calls())[0]).toMatchObject({ cached: true, cost_usd: 0 });
    await speak({ ...body, format: "opus" });
    expect(speech.asked).toHaveLength(asked + 1);
  });

  test("of ElevenLabs costs what its header says, and a cost beyond reason counts as unknown", async () => {
    await instance({ provider: "elevenlabs" });
    expect((await speak({ text: "Hello there.", voice_id: "v 1" })).status).toBe(200);
    expect(speech.asked[0]).toMatchObject({
      path: "/v1/text-to-speech/v%201",
      key: "el-speech-key",
      body: { text: "Hello there.", model_id: "eleven_multilingual_v2" },
    });
    expect((await calls())[0]!.cost_usd).toBeCloseTo(12 * 0.0003, 9);
    expect((await speak({ text: "Hello.", format: "wav" })).status).toBe(422);
  });

  test("follows the agent's own settings, and is refused where it is switched off", async () => {
    const path = "/v1/agents/scribe/tts-settings";
    const own = await server.request<AgentTtsSettings>("PUT", path, { body: { provider: "elevenlabs", speed: 2 } });
    expect(own.body).toMatchObject({
      agent_id: "scribe",
      provider: "elevenlabs",
      voice_id: null,
      effective: { enabled: true, provider: "elevenlabs", voice_id: null, speed: 2, format: "mp3" },
    });
    const stale = { headers: { "If-Match": '"old"' }, body: { speed: 1 } };
    expect((await server.request("PUT", path, stale)).status).toBe(412);
    expect((await server.request("PUT", path, { body: { enabled: false } })).status).toBe(200);
    expect(await speak({ text: "Hello." })).toMatchObject({ status: 409, body: { code: "voice_disabled" } });
    await server.request("PUT", path, { body: { enabled: true } });
    await instance({ enabled: false });
    expect(await speak({ text: "Hello." })).toMatchObject({ status: 409, body: { code: "voice_disabled" } });
    expect((await server.request("PUT", path, { body: { pitch: 1 } })).status).toBe(422);
    expect((await server.request("GET", "/v1/agents/no-such/tts-settings")).status).toBe(404);
  });

  test("that cannot be made says why, names no key, and is logged with its error", async () => {
    speech.status = 401;
    const refused = await speak({ text: `Refused ${crypto.randomUUID()}.` });
    expect(refused).toMatchObject({ status: 503, body: { code: "speech_refused" } });
    expect(JSON.stringify(refused.body)).not.toContain("sk-speech-key");
    expect((await calls())[0]).toMatchObject({ error: { code: "speech_refused" }, bytes: 0 });
    await instance({ provider: null });
    expect(await speak({ text: "Hello." })).toMatchObject({ status: 503, body: { code: "provider_not_configured" } });
    await instance({ provider: "piper" });
    expect(await speak({ text: "Hello." })).toMatchObject({ status: 503, body: { code: "provider_not_configured" } });
  });

  test("never says a secret of the instance to the service", async () => {
    const value = "sk-spoken-canary-73a1";
    expect((await server.request("POST", "/v1/secrets", { body: { name: "SPOKEN", value } })).status).toBe(201);
    expect((await speak({ text: `The key is ${value}.` })).status).toBe(200);
    expect(speech.asked).toHaveLength(1);
    expect(JSON.stringify(speech.asked)).not.toContain(value);
  });

  test("of nothing, of code alone, or longer than the limit is refused at the field", async () => {
    await instance({ max_characters: 10 });
    for (const text of ["", "```\ncode\n```", "Longer than ten characters."]) {
      const answer = await speak({ text });
      expect([text, answer.status]).toEqual([text, 422]);
      expect(JSON.stringify(answer.body)).toContain("/text");
    }
  });

  test.skipIf(lacks("espeak-ng", espeak !== null))(
    "of a program of this machine is a real WAV as long as the words take, joined of its pieces",
    async () => {
      await instance({ provider: "espeak-ng" });
      const body = { agent_id: "scribe", text: "One two three four. Five six seven eight nine ten." };
      const answer = await fetch(`${server.url}/v1/internal/tts/synthesize`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "audio/wav"]);
      const sound = new Uint8Array(await answer.arrayBuffer());
      const { format, data } = readWav(sound);
      const bytesPerSecond = format.readUInt32LE(8);
      expect(data.length / bytesPerSecond).toBeWithin(2, 10);
      let loudest = 0;
      for (let at = 0; at + 1 < data.length; at += 2) loudest = Math.max(loudest, Math.abs(data.readInt16LE(at)));
      expect(loudest).toBeGreaterThan(3_000);
      expect((await speak({ text: "Hello.", voice_id: "zz-nobody" })).status).toBe(422);
    },
  );
});

describe("voices", () => {
  test("of the hosted and of the local service are listed and found by id", async () => {
    const ids = async (path: string) =>
      (await server.request<{ items: { id: string }[] }>("GET", path)).body.items.map(({ id }) => id);
    expect(await ids("/v1/tts/voices")).toContain("alloy");
    expect((await server.request("GET", "/v1/tts/voices/alloy")).body).toMatchObject({
      name: "alloy",
      provider: "openai",
    });
    expect((await server.request("GET", "/v1/tts/voices/nobody")).status).toBe(404);
    await instance({ provider: "elevenlabs" });
    expect(await ids("/v1/tts/voices?limit=1")).toEqual(["v1"]);
    expect(await ids("/v1/tts/localvoice/profiles")).toEqual(["af_heart", "bm_lewis"]);
  });

  test("the health of the local service is always 200 and says whether and where it answers", async () => {
    const url = `${speech.url}/local/v1`;
    const health = () => server.request("GET", "/v1/tts/localvoice/health");
    expect(await health()).toMatchObject({ status: 200, body: { reachable: true, url, detail: null } });
    speech.status = 500;
    expect(await health()).toMatchObject({ status: 200, body: { reachable: false, url } });
    expect((await server.request("GET", "/v1/tts/localvoice/profiles")).status).toBe(503);
  });
});
