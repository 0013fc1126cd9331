/** /v1/skills. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertOwnAgent, type Caller } from "../../http/caller.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Skill, SkillCreate, SkillUpdate } from "./model.ts";
import type { Skills } from "./service.ts";

const tags = ["skills"];
const NamePath = t.Object({ name: t.String() });
const agentQuery = (description: string) => ({ agent_id: t.Optional(t.String({ maxLength: 64, description })) });
const Level = t.Object(agentQuery("That agent's own skill; absent: everybody's."));
const locationOf = ({ name, agent_id }: Skill) =>
  `/v1/skills/${name}${agent_id === null ? "" : `?agent_id=${agent_id}`}`;

/** An execution sees what its own agent sees, and may name no other. */
function viewOf(caller: Caller, agentId: string | undefined): string | undefined {
  if (agentId !== undefined) assertOwnAgent(caller, agentId);
  return agentId ?? caller.execution?.agentId;
}

export function skillRoutes(base: Base, skills: Skills) {
  return new Elysia({ name: "skep/skills" })
    .use(base)
    .get("/v1/skills", ({ query, caller }) => skills.list(pageOf(query), viewOf(caller, query.agent_id)), {
      access: "user",
      execution: true,
      query: t.Object({ ...PageQuery, ...agentQuery("What that agent sees; absent: all of every level.") }),
      response: { 200: listOf(Skill) },
      detail: { tags, summary: "List skills, by name" },
    })
    .get(
      "/v1/skills/:name",
      ({ params, query, caller, answer }) => answer.tagged(skills.get(params.name, viewOf(caller, query.agent_id))),
      {
        access: "user",
        execution: true,
        params: NamePath,
        query: t.Object(agentQuery("As that agent sees it: its own, else everybody's.")),
        response: { 200: Skill },
        detail: { tags, summary: "One skill with its instructions" },
      },
    )
    .post("/v1/skills", ({ body, answer }) => answer.created(locationOf, () => skills.create(body)), {
      access: "admin",
      body: SkillCreate,
      response: { 201: Skill },
      detail: { tags, summary: "Create a skill" },
    })
    .put(
      "/v1/skills/:name",
      ({ params, query, body, request, answer }) => {
        assertIfMatch(request, skills.own(params.name, query.agent_id));
        return answer.tagged(skills.update(params.name, body, query.agent_id));
      },
      {
        access: "admin",
        params: NamePath,
        query: Level,
        body: SkillUpdate,
        response: { 200: Skill },
        detail: { tags, summary: "Change a skill; comments in its file stay" },
      },
    )
    .delete(
      "/v1/skills/:name",
      ({ params, query, request, set }) => {
        assertIfMatch(request, skills.own(params.name, query.agent_id));
        skills.remove(params.name, query.agent_id);
        set.status = 204;
      },
      {
        access: "admin",
        params: NamePath,
        query: Level,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a skill" },
      },
    )
    .patch(
      "/v1/skills/:name/enabled",
      ({ params, query, body, request, answer }) => {
        assertIfMatch(request, skills.own(params.name, query.agent_id));
        return answer.tagged(skills.update(params.name, { enabled: body.enabled }, query.agent_id));
      },
      {
        access: "admin",
        params: NamePath,
        query: Level,
        body: t.Object({ enabled: t.Boolean() }),
        response: { 200: Skill },
        detail: { tags, summary: "Switch a skill on or off" },
      },
    );
}
