/**
 * The health of some nodes, with its answers counted for /metrics. A check writes nothing: counts are in memory, and the controller hears of them at
 * most once a minute, as running totals of this memory's life. So nothing counts twice, and a crash loses the last minute. No alarm is set for it:
 * the object sends its last counts within a minute after its last check, and then sleeps. A message that fails is sent again. Without new checks it
 * is sent again a few times only, so that an unused object sleeps even while the controller does not answer.
 */
import type { HealthPath } from "./rules/health-answer";
import { withTimeout } from "../core/base/timeout";
import { PacedLog } from "../core/telemetry/paced-log";
import type { AnswerKind, HealthTally } from "./pushed/health-tally";
import { NodeProxy, type NodeProxyPorts, type NodeProxySetting } from "./node-proxy";
import type { Report } from "./report";
import type { CountedAnswers, NodeAnswer, ReportResult } from "./rpc";

/** Between two messages to the controller. */
export const TELL_APART_MS = 60_000;
/** From the first answer to the message about it: behind the answer, with those of the same moment. */
export const TELL_DELAY_MS = 1_000;
const TELL_TIMEOUT_MS = 5_000;
/** A message without news is repeated so often. The next news brings the counts. */
export const REPEATS_MAX = 5;

export class CountedNodeProxy extends NodeProxy {
  readonly #life: number;
  readonly #answers: Partial<Record<AnswerKind, number>> = {};
  readonly #untold: PacedLog;
  #toldAt = -Infinity;
  #isTelling = false;
  /** messages that failed since the last news */
  #failures = 0;

  constructor(
    private readonly counted: NodeProxyPorts & { tell(tally: HealthTally): Promise<void> },
    setting: NodeProxySetting,
  ) {
    super(counted, setting);
    this.#life = counted.clock.now();
    this.#untold = new PacedLog(
      "warn",
      "the controller of the health of nodes was not told of checks: their counts come with the next message",
      counted,
    );
  }

  override async health(name: string, path: HealthPath, counted: CountedAnswers = "all"): Promise<NodeAnswer> {
    const answer = await super.health(name, path);
    if (counted === "ofNodes" && !answer.isOfNode) return answer;
    const kind: AnswerKind = `${path} ${answer.code}`;
    this.#answers[kind] = (this.#answers[kind] ?? 0) + 1;
    this.#news();
    return answer;
  }

  override async report(name: string, report: Report): Promise<ReportResult> {
    const result = await super.report(name, report);
    if (result.ok) this.#news();
    return result;
  }

  override async alarm(): Promise<void> {
    await super.alarm();
    this.#news();
  }

  protected override agentsGone(): void {
    this.#news();
  }

  #news(): void {
    this.#failures = 0;
    this.#tellSoon();
  }

  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    const { clock } = this.counted;
    const waitMs = this.#toldAt + TELL_APART_MS - clock.now();
    // A clock that was set back makes nobody wait for longer.
    clock.after(Math.min(Math.max(waitMs, TELL_DELAY_MS), TELL_APART_MS), () => void this.#tell());
  }

  #tally(): HealthTally {
    return { life: this.#life, answers: { ...this.#answers }, nodes: this.states(), families: this.families() };
  }

  /** Never rejects. */
  async #tell(): Promise<void> {
    const { clock, tell } = this.counted;
    this.#isTelling = false;
    this.#toldAt = clock.now();
    try {
      await withTimeout(clock, TELL_TIMEOUT_MS, tell(this.#tally()));
    } catch (error) {
      this.#untold.add(() => ({ error: String(error) }));
      if (this.#failures++ < REPEATS_MAX) this.#tellSoon();
    }
  }
}
