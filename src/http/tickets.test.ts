/** Tickets for the event stream: for one caller, one use, one minute. */
import { expect, test } from "bun:test";
import { OPEN_PROJECTS } from "../testing/open-projects.ts";
import { type Caller, LOCAL_ADMIN } from "./caller.ts";
import { createTickets, TICKET_SECONDS } from "./tickets.ts";

const at = { now: 0 };
const clock = { now: () => at.now, monotonic: () => at.now };
const ann: Caller = { kind: "user", admin: false, projects: OPEN_PROJECTS, userId: "usr_1" };

test("a ticket is its caller's, once, for a minute", () => {
  const tickets = createTickets(clock);
  const [first, second, late] = [tickets.issue(ann), tickets.issue(LOCAL_ADMIN), tickets.issue(ann)];
  expect(tickets.redeem(first)).toEqual(ann);
  expect(tickets.redeem(first)).toBeUndefined();
  at.now += TICKET_SECONDS * 1_000;
  expect(tickets.redeem(second)).toEqual(LOCAL_ADMIN);
  at.now++;
  expect(tickets.redeem(late)).toBeUndefined();
  expect(tickets.redeem("made-up")).toBeUndefined();
});

test("a bounded number is out at a time; those that have expired make room", () => {
  const tickets = createTickets(clock);
  for (let n = 0; n < 10_000; n++) tickets.issue(ann);
  expect(() => tickets.issue(ann)).toThrow("Too many tickets");
  at.now += TICKET_SECONDS * 1_000 + 1;
  expect(tickets.redeem(tickets.issue(ann))).toEqual(ann);
});
