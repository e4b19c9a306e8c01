/** What one allocation has done so far, for the log line of a slow one. */
import type { TakeAnswer, TakeStep } from "./take-step";

/** Steps told of one allocation. */
const STEPS_MAX = 40;

export class TakeTrace {
  readonly #steps: [what: string, at: number][] = [];
  #more = 0;

  /** `start` in milliseconds since the epoch, as every `at` */
  constructor(readonly start: number) {}

  /** The step was answered. A draw alone says nothing. */
  add(step: TakeStep, answer: TakeAnswer, at: number): void {
    if (step.kind === "draw") return;
    if (this.#steps.length < STEPS_MAX) this.#steps.push([textOf(step, answer), at]);
    else this.#more++;
  }

  get text(): string {
    const told = this.#steps.map(([what, at]) => `${at - this.start} ms: ${what}`).join("; ");
    return this.#more > 0 ? `${told}; and ${this.#more} more` : told;
  }
}

function textOf(step: TakeStep, answer: TakeAnswer): string {
  if (step.kind === "ask" && answer.kind === "ask") {
    const { result } = answer.attempt;
    return `${step.draw.ownerUid} ${result.ok ? "ok" : result.reason}`;
  }
  if (step.kind === "count") return "no owner left";
  if (step.kind === "compare") return `topology compared: ${step.why}`;
  if (step.kind === "inquire") return "the other store asked for its releases";
  if (step.kind === "recount") return `owners counted: ${step.why}`;
  return step.kind === "hurry" ? "waited for a release" : step.kind;
}
