import { describe, expect, test } from "bun:test";
import pino from "pino";
import { actOnEach } from "../core/act-on-each.ts";
import { pass } from "../feature/doctor/model.ts";
import { type Core, defineFeature } from "../feature/feature.ts";
import { type FeatureList, noFeatures } from "./compose.ts";

const API = { serve() {}, document: () => ({}), call: async () => new Response() };

/** The core parts that composing uses; `logged` receives the messages of the log. */
function coreOf(logged: string[] = []): Omit<Core, "contributions"> {
  const log = pino({ level: "debug" }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  return { log } as unknown as Omit<Core, "contributions">;
}
const create = <S>(list: FeatureList<S>, logged?: string[]) => list.create(coreOf(logged), API);

describe("composing", () => {
  test("gives each feature the services above it; what is below is refused by the compiler", async () => {
    const one = defineFeature("one", () => ({ service: { name: "one" } }));
    const two = defineFeature("two", ({ one }: { one: { name: string } }) => ({ service: `two after ${one.name}` }));
    const { services } = await create(noFeatures().with(one).with(two));
    expect(services.two).toBe("two after one");
    // @ts-expect-error: `one` is not above.
    noFeatures().with(two);
    expect(() => noFeatures().with(one).with(one)).toThrow("Two features are called one.");
  });

  test("starts in order, stops and closes in reverse, and one that fails to stop does not keep others from stopping", async () => {
    const diary: string[] = [];
    const logged: string[] = [];
    const feature = <Name extends string>(name: Name, broken = false) =>
      defineFeature(name, () => ({
        start: () => void diary.push(`start ${name}`),
        stop() {
          diary.push(`stop ${name}`);
          if (broken) throw new Error("no");
        },
        close: () => void diary.push(`close ${name}`),
      }));
    const list = noFeatures().with(feature("a")).with(feature("b", true)).with(feature("c"));
    const house = await create(list, logged);
    await house.start();
    await house.stop();
    await house.close();
    const starts = ["start a", "start b", "start c"];
    expect(diary).toEqual([...starts, "stop c", "stop b", "stop a", "close c", "close b", "close a"]);
    expect(logged).toEqual(["b could not stop"]);
  });

  test("releases what earlier features hold when one cannot be created", async () => {
    const closed: string[] = [];
    const holding = defineFeature("holding", () => ({ close: () => void closed.push("holding") }));
    const failing = defineFeature("failing", () => {
      throw new Error("no room");
    });
    await expect(create(noFeatures().with(holding).with(failing))).rejects.toThrow("no room");
    expect(closed).toEqual(["holding"]);
  });

  test("a feature that cannot start or continue is reported, and the others start, continue and are checked", async () => {
    const diary: string[] = [];
    const logged: string[] = [];
    const createRecorder = (what: string) => () => void diary.push(what);
    const failing = (message: string) => () => {
      throw new Error(message);
    };
    const list = noFeatures()
      .with(
        defineFeature("off", () => ({
          start: failing("no start"),
          resume: async () => createRecorder("never")(),
          stop: createRecorder("stop off"),
        })),
      )
      .with(
        defineFeature("partly", () => ({
          start: () => actOnEach([1, 2, 3], (n) => (n === 2 ? failing("no two")() : createRecorder(`item ${n}`)())),
        })),
      )
      .with(defineFeature("later", () => ({ resume: async () => failing("no rest")() })))
      .with(defineFeature("blind", () => ({ checks: failing("no look") })))
      .with(
        defineFeature("well", () => ({
          start: createRecorder("start"),
          resume: async () => createRecorder("resume")(),
          checks: () => [pass("well", "It is.")],
        })),
      );
    const house = await create(list, logged);
    await house.start();
    await house.resume();
    expect(diary).toEqual(["item 1", "item 3", "start", "resume"]);
    expect(house.contributions.startFailures).toEqual([
      { feature: "off", when: "start", message: "no start", isOff: true },
      { feature: "partly", when: "start", message: "1 of 3 failed; the first: no two", isOff: false },
      { feature: "later", when: "resume", message: "no rest", isOff: false },
    ]);
    const continued = "could not continue what the last process left";
    expect(await house.contributions.checks()).toMatchObject([
      { check: "start", verdict: "fail", detail: "off could not start: no start" },
      { check: "start", verdict: "fail", detail: `partly ${continued}: 1 of 3 failed; the first: no two` },
      { check: "start", verdict: "fail", detail: `later ${continued}: no rest` },
      { check: "blind", verdict: "fail", detail: "could not be checked: no look" },
      { check: "well", verdict: "ok", detail: "It is." },
    ]);
    expect(logged).toEqual(["off could not start", "partly could not start", `later ${continued}`]);
    await house.stop();
    expect(diary).toContain("stop off");
  });

  test("a feature whose start never ends is off, and those below it start", async () => {
    const diary: string[] = [];
    const list = noFeatures()
      .with(defineFeature("hangs", () => ({ start: () => new Promise<void>(() => {}) })))
      .with(defineFeature("next", () => ({ start: () => void diary.push("next") })));
    const house = await list.create(coreOf([]), API, { startMs: 20, slowMs: 5_000 });
    await house.start();
    expect(diary).toEqual(["next"]);
    const message = "it was not done after 0.02 s";
    expect(house.contributions.startFailures).toEqual([{ feature: "hangs", when: "start", message, isOff: true }]);
    await house.stop();
  });

  test("what a stop cuts short is no failure: it is continued at the next start", async () => {
    const logged: string[] = [];
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    const house = await create(noFeatures().with(defineFeature("slow", () => ({ resume: () => stopped }))), logged);
    await house.start();
    const resumed = house.resume();
    await house.stop();
    reject(new Error("The database connection is not open"));
    await resumed;
    expect([logged, house.contributions.startFailures]).toEqual([[], []]);
  });

  test("what the disk refuses is no matter of one feature: the start fails", async () => {
    for (const code of ["SQLITE_FULL", "SQLITE_CORRUPT", "ENOSPC"]) {
      const failing = defineFeature("failing", () => ({
        start() {
          throw Object.assign(new Error("no"), { code });
        },
      }));
      const house = await create(noFeatures().with(failing));
      expect(house.start()).rejects.toMatchObject({ code });
    }
  });

  test("names a feature that hangs when it stops", async () => {
    const logged: string[] = [];
    const hangs = Promise.withResolvers<void>();
    const slow = defineFeature("slow", () => ({ stop: () => hangs.promise }));
    const house = await noFeatures().with(slow).create(coreOf(logged), API, { startMs: 60_000, slowMs: 5 });
    const stopped = house.stop();
    while (logged.length === 0) await Bun.sleep(1);
    expect(logged).toEqual(["slow takes more than 0.005 s to stop"]);
    hangs.resolve();
    await stopped;
  });

  test("shows what all features bring only once all are created", async () => {
    const early = defineFeature("early", ({ contributions }: Core) => ({
      service: { counts: contributions.counts() },
    }));
    await expect(create(noFeatures().with(early))).rejects.toThrow("before all were created");
    const later = defineFeature("later", ({ contributions }: Core) => ({ service: () => contributions.counts() }));
    const counting = defineFeature("counting", () => ({ counts: () => ({ things: 2 }) }));
    const { services } = await create(noFeatures().with(later).with(counting));
    expect(services.later()).toEqual({ things: 2 });
  });
});
