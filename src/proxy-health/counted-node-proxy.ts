/**
 * The health of some nodes, with its answers counted for /metrics. A check writes nothing: counts are in memory, and the controller hears of them as
 * running totals of this memory's life. So nothing counts twice.
 *
 * A timer of a minute would keep the object awake, which costs more than many messages. So the first news of a life are told behind their answer:
 * where checks are seldom, a life has no more of them. Where they go on, the object stays in memory anyway, and the first news after a minute tells all.
 * What was counted since then is lost when the object dies, or sleeps as the checks end. A message that fails is sent again a few times; then the next
 * news brings everything.
 */
import type { HealthPath } from "./rules/health-answer";
import { withTimeout } from "../core/base/timeout";
import { PacedLog } from "../core/telemetry/paced-log";
import type { AnswerKind, HealthTally } from "./pushed/health-tally";
import { NodeProxy, type NodeProxyPorts, type NodeProxySetting } from "./node-proxy";
import type { Report } from "./report";
import type { CountedAnswers, NodeAnswer, ReportResult } from "./rpc";

/** Between two messages to the controller, unless a node's state has changed. */
export const TELL_APART_MS = 60_000;
/** The first messages of a life are not so far apart. */
export const EAGER_MESSAGES = 8;
/** From the news to the message about it: behind the answer, with those of the same moment. An object awake for so long costs as much as a message. */
export const TELL_DELAY_MS = 1_000;
const TELL_TIMEOUT_MS = 5_000;
/** A message that failed is repeated after so long, so often. The next news brings the counts. */
export const REPEAT_MS = 1_000;
export const REPEATS_MAX = 5;

export class CountedNodeProxy extends NodeProxy {
  readonly #life: number;
  readonly #answers: Partial<Record<AnswerKind, number>> = {};
  readonly #untold: PacedLog;
  #toldAt = -Infinity;
  #isTelling = false;
  #messages = 0;
  /** the states of nodes in the last message */
  #toldStates = "";
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
    if (result.ok) this.#news(JSON.stringify(this.states()) !== this.#toldStates);
    return result;
  }

  override async alarm(): Promise<void> {
    await super.alarm();
    this.#news(true);
  }

  protected override agentsGone(): void {
    this.#news(true);
  }

  /** `isState`: more than counts has changed. */
  #news(isState = false): void {
    this.#failures = 0;
    const sinceMs = this.counted.clock.now() - this.#toldAt;
    // A clock that was set back makes nobody wait for longer.
    const isDue = isState || this.#messages < EAGER_MESSAGES || sinceMs >= TELL_APART_MS || sinceMs < 0;
    if (isDue) this.#tellIn(TELL_DELAY_MS);
  }

  #tellIn(delayMs: number): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.counted.clock.after(delayMs, () => void this.#tell());
  }

  #tally(): HealthTally {
    return { life: this.#life, answers: { ...this.#answers }, nodes: this.states(), families: this.families() };
  }

  /** Never rejects. */
  async #tell(): Promise<void> {
    const { clock, tell } = this.counted;
    const tally = this.#tally();
    this.#isTelling = false;
    this.#toldAt = clock.now();
    this.#toldStates = JSON.stringify(tally.nodes);
    try {
      await withTimeout(clock, TELL_TIMEOUT_MS, tell(tally));
      this.#messages++;
    } catch (error) {
      this.#toldAt = -Infinity;
      this.#untold.add(() => ({ error: String(error) }));
      if (this.#failures++ < REPEATS_MAX) this.#tellIn(REPEAT_MS);
    }
  }
}
