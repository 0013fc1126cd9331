/** A pipeline with every kind of step. Its `each` step reads the output `tasks`. */
export const EXAMPLE = `id: feature
name: Feature
description: Design, build, review
version: 1
defaults: { model: ollama/qwen3, timeout_seconds: 900, max_attempts: 2, budget_usd: 2 }
inputs:   { issue: { description: Issue to solve, required: false } }
steps:
  - id: design
    agent: architect
    input: |
      Design this: {{ task_description }}
    outputs: [design, tasks]
  - id: build
    agent: engineer
    needs: [design]                # a DAG: steps whose needs are met run side by side; without \`needs\` a step follows the one above
    input: "Build {{ steps.design.outputs.design }}  {{ steps.review.outputs.feedback }}"
    on_failure: retry              # fail (default) | retry | continue | { goto: design }
  - id: review
    agent: reviewer
    output_schema: { type: object, required: [verdict], properties: { verdict: { enum: [approved, changes] }, feedback: { type: string } } }
    when: "steps.build.status == 'succeeded'"   # a small closed language: ==, !=, and, or, not, in; no evaluation of code
    route: { on: verdict, to: { approved: ship, changes: build }, max_visits: 3 }
    input: Review it.
  - id: each
    for_each: "{{ steps.design.outputs.tasks }}"   # a list; \`max_parallel\`; item and index are variables
    agent: engineer
    input: "{{ item.title }}"
  - id: ship
    approval: { message: "Ship it?", timeout_seconds: 86400, on_timeout: fail }
`;
