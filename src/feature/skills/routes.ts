/** /v1/skills. */

import { Type as t } from "@sinclair/typebox";
import { assertOwnAgent, type Caller } from "../../http/caller.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Skill, SkillCreate, SkillUpdate } from "./model.ts";
import type { SkillReader, Skills } from "./service.ts";

const agentQuery = (description: string) => ({ agent_id: t.Optional(t.String({ maxLength: 64, description })) });
const Level = t.Object(agentQuery("Agent whose own skill is meant; if absent, the skill that everybody shares."));
const locationOf = ({ name, agent_id }: Skill) =>
  `/v1/skills/${name}${agent_id === null ? "" : `?agent_id=${agent_id}`}`;

/**
 * How a caller reads skills: people see everybody's and their own, administrators all, and an execution only confirmed
 * ones.
 */
const readerOf = ({ admin, userId, execution }: Caller): SkillReader => ({
  admin,
  userId,
  confirmed: execution !== undefined,
});

/** The agent whose view a caller gets. An execution sees what its own agent sees, and may name no other agent. */
function viewOf(caller: Caller, agentId: string | undefined): string | undefined {
  if (agentId !== undefined) assertOwnAgent(caller, agentId);
  return agentId ?? caller.execution?.agentId;
}

export function skillRoutes(skills: Skills) {
  return tagOperations("skills", [
    defineOperation("listSkills", "GET /v1/skills", {
      access: "user",
      execution: true,
      query: t.Object({
        ...PageQuery,
        ...agentQuery("Only skills that this agent sees; if absent, all skills of every level."),
      }),
      answer: listOf(Skill),
      summary: "List skills, by name",
      handler: ({ query, caller }) =>
        skills.listInTurns(pageOf(query), readerOf(caller), viewOf(caller, query.agent_id)),
    }),
    defineOperation("getSkill", "GET /v1/skills/:name", {
      access: "user",
      execution: true,
      query: t.Object(agentQuery("Agent whose view applies: its own skill, else the one that everybody shares.")),
      answer: Skill,
      summary: "Get a skill with its instructions",
      handler: ({ params, query, caller, answer }) =>
        answer.tag(skills.get(params.name, readerOf(caller), viewOf(caller, query.agent_id))),
    }),
    defineOperation("createSkill", "POST /v1/skills", {
      access: "admin",
      body: SkillCreate,
      answer: { 201: Skill },
      summary: "Create a skill",
      handler: ({ body, answer }) => answer.created(locationOf, () => skills.create(body)),
    }),
    defineOperation("updateSkill", "PUT /v1/skills/:name", {
      access: "user",
      query: Level,
      body: SkillUpdate,
      answer: Skill,
      summary: "Change or confirm a skill of your own or, as an administrator, any; comments in its file stay",
      handler: ({ params, query, body, caller, request, answer }) => {
        assertIfMatch(request, skills.own(params.name, readerOf(caller), query.agent_id));
        return answer.tag(skills.update(params.name, body, readerOf(caller), query.agent_id));
      },
    }),
    defineOperation("deleteSkill", "DELETE /v1/skills/:name", {
      access: "user",
      query: Level,
      answer: 204,
      summary: "Delete a skill",
      handler: ({ params, query, caller, request }) => {
        assertIfMatch(request, skills.own(params.name, readerOf(caller), query.agent_id));
        skills.remove(params.name, readerOf(caller), query.agent_id);
      },
    }),
    defineOperation("updateSkillEnabled", "PATCH /v1/skills/:name/enabled", {
      access: "user",
      query: Level,
      body: t.Object({ enabled: t.Boolean() }),
      answer: Skill,
      summary: "Switch a skill on or off",
      handler: ({ params, query, body, caller, request, answer }) => {
        assertIfMatch(request, skills.own(params.name, readerOf(caller), query.agent_id));
        return answer.tag(skills.update(params.name, { enabled: body.enabled }, readerOf(caller), query.agent_id));
      },
    }),
  ]);
}
