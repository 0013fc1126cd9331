import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf } from "../../core/schema.ts";
import { Delivery, RunOnHost } from "./model.ts";

const { event, repository, state, detail } = Delivery.properties;
export const codehostDelivery = defineEvent(
  "codehost_delivery",
  t.Object(
    { delivery_id: t.String(), event, repository, state, detail },
    { description: "A delivery from the code host arrived or was processed. Only administrators receive this event." },
  ),
  { stale: ["/v1/codehost"] },
);

const { number, url, pull_state, error } = RunOnHost.properties;
export const runPullRequest = defineEvent(
  "run_pull_request",
  t.Object(
    { change: oneOf("linked", "opened", "pushed", "merged", "closed", "failed"), number, url, pull_state, error },
    { description: "A run was linked to an issue on the code host, or its pull request there changed." },
  ),
  { stale: ["/v1/runs"] },
);

export const codehostEvents = [codehostDelivery, runPullRequest] as const;
