/**
 * Reports the health of the node's Service proxy: at once when it changes, and otherwise every sync period, because a silent agent's node turns red
 * (docs/load-balancer-health-checks.md). The proxy is asked every 5 s, or six times in a period.
 *
 * A proxy that gives no answer keeps its last health, and is unhealthy after two periods without an answer. Without a proxy, the report says only
 * that the agent lives.
 */
import type { Family } from "../../../core/net/family";
import { withTimeout } from "../../../core/base/timeout";
import type { FamilyReport, Report } from "../../../proxy-health/report";
import type { AgentKeeperPorts } from "../ports/agent-ports";
import { Attempts } from "../ports/attempts";
import { Nap } from "../ports/nap";
import { AgentTrouble } from "../ports/trouble";
import { reportOf } from "./proxy-body";

const ASKS_PER_PERIOD = 6;
const ASK_MS_MAX = 5_000;
const MUTE_PERIODS = 2;
const ASK_TIMEOUT_MS = 2_000;

/** Asks the proxy. Rejects when there is no answer. */
export type AskProxy = () => Promise<{ readonly code: number; readonly text: string }>;

export interface ReporterSetting {
  readonly node: string;
  readonly families: readonly Family[];
  readonly periodMs: number;
  /** undefined = no proxy is asked */
  readonly ask: AskProxy | undefined;
}

export class ProxyReporter {
  readonly #askNap: Nap;
  readonly #reportNap: Nap;
  readonly #attempts: Attempts;
  readonly #proxyTrouble: AgentTrouble;
  readonly #reportTrouble: AgentTrouble;
  /** what the proxy said last, by the steady clock */
  #heard: { report: Report; atMs: number };
  #isStopped = false;

  constructor(
    private readonly ports: AgentKeeperPorts,
    private readonly setting: ReporterSetting,
  ) {
    this.#askNap = new Nap(ports.clock);
    this.#reportNap = new Nap(ports.clock);
    this.#attempts = new Attempts(ports.clock, ports.random);
    this.#proxyTrouble = new AgentTrouble("the Service proxy gives no answer", ports.recorder);
    this.#reportTrouble = new AgentTrouble("the health of the Service proxy cannot be reported", ports.recorder);
    // A proxy may start after the agent.
    this.#heard = { report: {}, atMs: ports.clock.steady() };
  }

  /** Until it is stopped. Never rejects. Neither a proxy nor a server that hangs delays the other. */
  async keep(): Promise<void> {
    await this.#ask();
    await Promise.all([this.#askOn(), this.#reportOn()]);
  }

  stop(): void {
    this.#isStopped = true;
    this.#askNap.wake();
    this.#reportNap.wake();
  }

  async #askOn(): Promise<void> {
    while (!this.#isStopped && this.setting.ask) {
      await this.#askNap.wait(this.#pauseMs);
      const before = healthIn(this.#report());
      await this.#ask();
      if (healthIn(this.#report()) !== before) this.#reportNap.wake();
    }
  }

  async #reportOn(): Promise<void> {
    const { api, clock } = this.ports;
    const { node, periodMs } = this.setting;
    let reported: { health: string; atMs: number } | undefined;
    while (!this.#isStopped) {
      const report = this.#report();
      const health = healthIn(report);
      const nowMs = clock.steady();
      let pauseMs = this.#pauseMs;
      if (health !== reported?.health || nowMs - reported.atMs >= periodMs) {
        this.#attempts.begin();
        const reply = await api.request("PUT", `/api/v1/nodes/${node}/proxy-health`, report);
        if (reply.kind === "done") {
          reported = { health, atMs: nowMs };
          this.#attempts.succeeded();
          this.#reportTrouble.over();
        } else {
          pauseMs = Math.min(this.#attempts.failed(), pauseMs);
          this.#reportTrouble.tellOf(reply);
        }
      }
      await this.#reportNap.wait(pauseMs);
    }
  }

  get #pauseMs(): number {
    return Math.min(this.setting.periodMs / ASKS_PER_PERIOD, ASK_MS_MAX);
  }

  async #ask(): Promise<void> {
    const { ask, families } = this.setting;
    const { clock } = this.ports;
    if (!ask) return;
    try {
      const { code, text } = await withTimeout(clock, ASK_TIMEOUT_MS, ask());
      const report = reportOf(code, text, families);
      if (!report) throw new Error(`the answer is none of a Service proxy: ${code} ${text.trim().slice(0, 100)}`);
      this.#heard = { report, atMs: clock.steady() };
      this.#proxyTrouble.over();
    } catch (error) {
      this.#proxyTrouble.tell(error instanceof Error ? error.message : String(error));
    }
  }

  /** What the proxy said, as old as it is by now. */
  #report(): Report {
    const { ask, families, periodMs } = this.setting;
    if (!ask) return {};
    const { report, atMs } = this.#heard;
    const ageMs = Math.round(this.ports.clock.steady() - atMs);
    const isMute = ageMs >= MUTE_PERIODS * periodMs;
    const known = entriesOf(report);
    const told = known.length > 0 || !isMute ? known : families.map((family): readonly [Family, FamilyReport] => [family, {}]);
    return Object.fromEntries(
      told.map(([family, { healthy = true, appliedAgoMs }]) => [
        family,
        { healthy: healthy && !isMute, ...(appliedAgoMs !== undefined && { appliedAgoMs: appliedAgoMs + ageMs }) },
      ]),
    );
  }
}

function entriesOf(report: Report): (readonly [Family, FamilyReport])[] {
  return Object.entries(report) as (readonly [Family, FamilyReport])[];
}

/** What of a report is a change when it is another one. */
function healthIn(report: Report): string {
  return JSON.stringify(entriesOf(report).map(([family, { healthy }]) => [family, healthy]));
}
