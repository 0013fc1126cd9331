import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";

export const bellRung = defineEvent("bell_rung", t.Object({ times: t.Integer() }, { description: "The bell rang." }));

export const bellEvents = [bellRung] as const;
