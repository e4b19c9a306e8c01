/**
 * Reports the health of this machine's proxy to the API server, which answers health checks for the node (docs/load-balancer-health-checks.md).
 *
 * A report has ages, and the server goes on counting. So one report in a sync period is enough. Only the end of a delay is reported at once, because
 * a late node gets no connections. A failed report is no error for the proxy: it serves all the same.
 */
import type { Clock } from "../../core/base/ports";
import type { Family } from "../../core/net/family";

/** Durations in ms; what is not known is absent. */
export type ProxyReport = Partial<Record<Family, { queuedForMs?: number; appliedAgoMs?: number }>>;

export interface ReportAnswer {
  readonly status: number;
  readonly text: string;
}

export interface ReportPorts {
  /** steady: it never jumps */
  clock: Pick<Clock, "now" | "after">;
  /** the report of this moment */
  report(): ProxyReport;
  /** Rejects when no whole answer comes. */
  send(report: ProxyReport): Promise<ReportAnswer>;
  /** one line for an operator */
  log(line: string): void;
}

/** A server that does not answer is asked again so soon. */
const RETRY_MS = 5_000;
/** A server that never had this path, as Kubernetes, is asked again so late: it may be another one by then. */
const UNSERVED_MS = 600_000;
/** Ends of waits that come together are told together. */
const GAP_MS = 1_000;

export class HealthReports {
  #cancel: () => void = () => undefined;
  #isSending = false;
  #isStopped = false;
  /** The last report had a change that waits. */
  #hasToldWait = false;
  #sentAt = -Infinity;
  /** The server has kept a report: what stands in front of it may not have the path for a while. */
  #wasKept = false;
  /** told, and not over; "" = nothing */
  #trouble = "";

  constructor(
    private readonly ports: ReportPorts,
    private readonly setting: { readonly node: string; readonly syncPeriodMs: number },
  ) {}

  start(): void {
    void this.#send();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** A sync has been applied. */
  applied(): void {
    if (this.#hasToldWait && !this.#isSending) this.#sendAfter(this.#sentAt + GAP_MS - this.ports.clock.now());
  }

  #sendAfter(delayMs: number): void {
    this.#cancel();
    if (!this.#isStopped) this.#cancel = this.ports.clock.after(Math.max(delayMs, 0), () => void this.#send());
  }

  /** Never rejects. */
  async #send(): Promise<void> {
    const { clock } = this.ports;
    this.#isSending = true;
    this.#sentAt = clock.now();
    const report = this.ports.report();
    const isWaiting = Object.values(report).some(({ queuedForMs }) => queuedForMs !== undefined);
    const pauseMs = await this.#sent(report);
    this.#isSending = false;
    this.#hasToldWait = isWaiting && pauseMs === this.setting.syncPeriodMs;
    // The wait may have ended while the report was under way.
    const hasEnded = this.#hasToldWait && Object.values(this.ports.report()).every(({ queuedForMs }) => queuedForMs === undefined);
    this.#sendAfter(hasEnded ? this.#sentAt + GAP_MS - clock.now() : pauseMs);
  }

  /** Sends a report. Answers how long to wait for the next one. */
  async #sent(report: ProxyReport): Promise<number> {
    const { node, syncPeriodMs } = this.setting;
    const retryMs = Math.min(RETRY_MS, syncPeriodMs);
    let answer: ReportAnswer;
    try {
      answer = await this.ports.send(report);
    } catch (error) {
      this.#tell(`no report about this proxy can be sent: ${error instanceof Error ? error.message : String(error)}`);
      return retryMs;
    }
    const { status, text } = answer;
    if (status < 300) {
      this.#trouble = "";
      this.#wasKept = true;
      return syncPeriodMs;
    }
    if (status === 404 && isAboutNode(text, node)) {
      this.#tell(`no report about this proxy is taken: the Node ${node} does not exist`);
      return retryMs;
    }
    if (status === 404 || status === 405) {
      const pauseMs = this.#wasKept ? retryMs : UNSERVED_MS;
      this.#tell(`the API server takes no reports about proxies (${status}); it is asked again every ${pauseMs / 1_000} seconds`);
      return pauseMs;
    }
    this.#tell(`a report about this proxy was answered with ${status}: ${text.trim().slice(0, 200)}`);
    return status === 429 || status >= 500 ? retryMs : syncPeriodMs;
  }

  /** The same trouble is told once, until it is over or there is another one. */
  #tell(trouble: string): void {
    if (trouble === this.#trouble || this.#isStopped) return;
    this.#trouble = trouble;
    this.ports.log(trouble);
  }
}

/** Whether a Status says that this very Node is missing. A path that is not served is answered with other texts. */
function isAboutNode(text: string, node: string): boolean {
  try {
    const { details } = JSON.parse(text) as { details?: { name?: string; kind?: string } };
    return details?.kind === "nodes" && details.name === node;
  } catch {
    return false;
  }
}
