/** A small model of how runs of one pipeline should behave. run-model.test.ts compares the product with it. */
export const PIPELINE = `
id: three
name: Three
steps:
  - id: make
    agent: worker
    needs: []
    input: Make
    outputs: [value]
    on_failure: retry
    max_attempts: 2
    timeout_seconds: 86400
  - id: ok
    needs: [make]
    approval: { message: "Continue {{ steps.make.outputs.value }}?", timeout_seconds: 60, on_timeout: fail }
  - id: ship
    agent: worker
    needs: [ok]
    input: Ship
    timeout_seconds: 86400
`;

export const STEPS = ["make", "ok", "ship"] as const;
type StepName = (typeof STEPS)[number];
type Status = "pending" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";

export class ExpectedRun {
  status: "running" | "waiting" | "succeeded" | "failed" | "cancelled" = "running";
  steps: Record<StepName, Status> = { make: "running", ok: "pending", ship: "pending" };
  tries = 1;
  /** When the open question expires, in ms since the epoch. */
  deadline = 0;

  get ended(): boolean {
    return this.status !== "running" && this.status !== "waiting";
  }

  /** The step whose agent is at work. */
  get working(): StepName | undefined {
    return STEPS.find((step) => this.steps[step] === "running");
  }

  succeed(step: StepName, now: number): void {
    this.steps[step] = "succeeded";
    this.begin(now);
  }

  /** Continues with the first step that has not succeeded. */
  begin(now: number): void {
    const next = STEPS.find((step) => this.steps[step] !== "succeeded");
    if (next === "ok") {
      this.steps.ok = "waiting";
      this.deadline = now + 60_000;
    } else if (next) this.steps[next] = "running";
    this.status = next === undefined ? "succeeded" : next === "ok" ? "waiting" : "running";
  }

  fail(step: StepName): void {
    if (step === "make" && this.tries < 2) this.tries++;
    else this.end(step, "failed");
  }

  private end(step: StepName, status: "failed" | "cancelled"): void {
    this.steps[step] = status;
    for (const other of STEPS) if (this.steps[other] === "pending") this.steps[other] = "cancelled";
    this.status = status;
  }

  cancel(): void {
    this.end(STEPS.find((step) => this.steps[step] === "running" || this.steps[step] === "waiting")!, "cancelled");
  }

  restart(now: number): void {
    for (const step of STEPS) if (this.steps[step] !== "succeeded") this.steps[step] = "pending";
    this.tries = 1;
    this.begin(now);
  }

  tick(now: number): void {
    if (this.steps.ok === "waiting" && this.deadline <= now) this.fail("ok");
  }
}
