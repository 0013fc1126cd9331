/**
 * One life of a server with a routine that is due every minute, on a clock that runs as fast as it can. The parent
 * process kills it without warning. The next life begins some minutes later, so that there is something to catch up on.
 * Prints each minute that begins. Arguments: the data folder, and how many minutes it lives if nobody kills it.
 */
import { openHouse } from "../../app.ts";
import { systemClock } from "../../core/clock.ts";
import { readConfig } from "../../core/config.ts";
import { LOCAL_ADMIN } from "../../http/caller.ts";

const MINUTE = 60_000;
const AWAY_MINUTES = 5;
const AT_WORK = 3;
const [data = "", minutes = "0"] = process.argv.slice(2);

let now = Date.parse("2026-11-22T09:00:30Z");
const clock = { now: () => now, monotonic: systemClock.monotonic };
const house = await openHouse(readConfig({ DATA: data, SANDBOX: "process", LOG_LEVEL: "silent" }), { clock });
const { pulse } = house.services;
const newest = house.core.store.sqlite
  .prepare<unknown[], number | null>("SELECT max(due_at) FROM pulse_ticks")
  .pluck()
  .get()!;
if (newest !== null) now = newest + AWAY_MINUTES * MINUTE;
if (pulse.list(undefined, { limit: 1, after: null }, LOCAL_ADMIN).items.length === 0)
  pulse.create(
    "pulser",
    { name: "Each minute", instructions: "Look", schedule: { every_minutes: 1 }, max_concurrent: 8 },
    LOCAL_ADMIN,
  );
const live = () =>
  house.core.store.sqlite
    .prepare<unknown[], number>("SELECT count(*) FROM executions WHERE finished_at IS NULL")
    .pluck()
    .get()!;
await house.start();
await house.resume();
for (let minute = 0; minute < Number(minutes); minute++) {
  console.log("minute");
  let isLeft = true;
  while (isLeft) {
    isLeft = false;
    pulse.due.run(() => {
      isLeft = true;
    });
  }
  now += MINUTE;
  // The clock waits for the agent, which would otherwise reach its time limit.
  do await Bun.sleep(1);
  while (live() >= AT_WORK);
}
while (live() > 0) await Bun.sleep(10);
await house.stop();
await house.close();
