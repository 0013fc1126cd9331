/**
 * The agents, skills and pipelines that come with the server, embedded as text: path below the agents folder → content.
 * Each file under `agents/` has a line here; a test reports missing ones.
 */
import bugfixPipeline from "../../agents/_pipelines/bugfix.yml" with { type: "text" };
import featurePipeline from "../../agents/_pipelines/feature.yml" with { type: "text" };
import helloPipeline from "../../agents/_pipelines/hello.yml" with { type: "text" };
import importRepositoryPipeline from "../../agents/_pipelines/import-repository.yml" with { type: "text" };
import researchPipeline from "../../agents/_pipelines/research.yml" with { type: "text" };
import codeReviewSkill from "../../agents/_skills/code-review.md" with { type: "text" };
import debuggingSkill from "../../agents/_skills/debugging.md" with { type: "text" };
import documentationSkill from "../../agents/_skills/documentation.md" with { type: "text" };
import gitCommitMessagesSkill from "../../agents/_skills/git-commit-messages.md" with { type: "text" };
import planningSkill from "../../agents/_skills/planning.md" with { type: "text" };
import repositorySurveySkill from "../../agents/_skills/repository-survey.md" with { type: "text" };
import researchWithSourcesSkill from "../../agents/_skills/research-with-sources.md" with { type: "text" };
import securityReviewSkill from "../../agents/_skills/security-review.md" with { type: "text" };
import writingTestsSkill from "../../agents/_skills/writing-tests.md" with { type: "text" };
import architect from "../../agents/architect/AGENT.md" with { type: "text" };
import engineer from "../../agents/engineer/AGENT.md" with { type: "text" };
import interviewerArchitecture from "../../agents/interviewer-architecture/AGENT.md" with { type: "text" };
import interviewerIntake from "../../agents/interviewer-intake/AGENT.md" with { type: "text" };
import interviewerProduct from "../../agents/interviewer-product/AGENT.md" with { type: "text" };
import interviewerStrategy from "../../agents/interviewer-strategy/AGENT.md" with { type: "text" };
import lead from "../../agents/lead/AGENT.md" with { type: "text" };
import researcher from "../../agents/researcher/AGENT.md" with { type: "text" };
import reviewer from "../../agents/reviewer/AGENT.md" with { type: "text" };
import scribe from "../../agents/scribe/AGENT.md" with { type: "text" };
import type { ShippedFiles } from "./shipped.ts";

export const SHIPPED_FILES: ShippedFiles = {
  "_pipelines/bugfix.yml": bugfixPipeline,
  "_pipelines/feature.yml": featurePipeline,
  "_pipelines/hello.yml": helloPipeline,
  "_pipelines/import-repository.yml": importRepositoryPipeline,
  "_pipelines/research.yml": researchPipeline,
  "_skills/code-review.md": codeReviewSkill,
  "_skills/debugging.md": debuggingSkill,
  "_skills/documentation.md": documentationSkill,
  "_skills/git-commit-messages.md": gitCommitMessagesSkill,
  "_skills/planning.md": planningSkill,
  "_skills/repository-survey.md": repositorySurveySkill,
  "_skills/research-with-sources.md": researchWithSourcesSkill,
  "_skills/security-review.md": securityReviewSkill,
  "_skills/writing-tests.md": writingTestsSkill,
  "architect/AGENT.md": architect,
  "engineer/AGENT.md": engineer,
  "interviewer-architecture/AGENT.md": interviewerArchitecture,
  "interviewer-intake/AGENT.md": interviewerIntake,
  "interviewer-product/AGENT.md": interviewerProduct,
  "interviewer-strategy/AGENT.md": interviewerStrategy,
  "lead/AGENT.md": lead,
  "researcher/AGENT.md": researcher,
  "reviewer/AGENT.md": reviewer,
  "scribe/AGENT.md": scribe,
};
