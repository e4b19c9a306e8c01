/** The health of the proxy of this machine: what it counts. The rules of its answers are in proxy-health/rules. */
import type { Node } from "../../api/meta/kubernetes";
import {
  type FamilyHealth,
  HEALTH_TIMEOUT_MS,
  healthAnswer,
  type HealthAnswer,
  type HealthPath,
  isLate,
} from "../../proxy-health/rules/health-answer";
import { isEligible, type NodeFacts, nodeFacts } from "../../proxy-health/rules/eligibility";
import { FAMILIES, type Family } from "../../core/net/family";
import type { ProxyReport } from "./health-reports";

interface FamilySync {
  lastUpdated: number | undefined;
  /** since when a change waits; undefined = none does */
  queuedSince: number | undefined;
}

/** All times are ms of a clock that never jumps, unless their name says otherwise: a wall clock that is set makes nobody late, and nobody good. */
export class ProxyHealth {
  readonly #families: Record<Family, FamilySync> = {
    IPv4: { lastUpdated: undefined, queuedSince: undefined },
    IPv6: { lastUpdated: undefined, queuedSince: undefined },
  };
  #node: NodeFacts | undefined;
  readonly #timeoutMs: number;

  constructor(timeoutMs = HEALTH_TIMEOUT_MS) {
    this.#timeoutMs = timeoutMs;
  }

  /** The family's listeners are as the view wants them. */
  updated(family: Family, now: number): void {
    this.#families[family] = { lastUpdated: now, queuedSince: undefined };
  }

  /** A change of the family waits to be served. */
  queued(family: Family, now: number): void {
    this.#families[family].queuedSince ??= now;
  }

  /** The node as the API server has it. One that is gone from there stays as it was seen last. */
  set node(node: Node) {
    this.#node = nodeFacts(node);
  }

  isHealthy(now: number): boolean {
    return FAMILIES.every((family) => !this.#isLate(family, now));
  }

  /** The answer at /healthz or /livez. `wall`: now, in ms since the epoch */
  answer(path: HealthPath, now: number, wall: number): HealthAnswer {
    const families: Partial<Record<Family, FamilyHealth>> = {};
    for (const family of FAMILIES) {
      const { lastUpdated } = this.#families[family];
      if (lastUpdated !== undefined) families[family] = { lastUpdated: wall - (now - lastUpdated), healthy: !this.#isLate(family, now) };
    }
    return healthAnswer(path, { healthy: this.isHealthy(now), nodeEligible: isEligible(this.#node), families }, wall);
  }

  /** What the API server is told. A family that was never updated is left out. */
  report(now: number): ProxyReport {
    const report: ProxyReport = {};
    for (const family of FAMILIES) {
      const { lastUpdated, queuedSince } = this.#families[family];
      if (lastUpdated === undefined) continue;
      const ago = (since: number): number => Math.floor(now - since);
      report[family] = { appliedAgoMs: ago(lastUpdated), ...(queuedSince !== undefined && { queuedForMs: ago(queuedSince) }) };
    }
    return report;
  }

  #isLate(family: Family, now: number): boolean {
    return isLate(this.#families[family], now, this.#timeoutMs);
  }
}
