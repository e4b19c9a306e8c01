/** Probes one endpoint, period after period, until it is stopped. A server that is away changes nothing in it. */
import type { Random, Recorder } from "../../../core/base/ports";
import type { ElectorClock } from "../../elector/term";
import type { Check } from "./endpoint-entry";
import type { ProbePorts } from "./machine-ports";
import { Readiness } from "./readiness";
import { runProbe } from "./run-probe";

export interface ProberPorts extends ProbePorts {
  readonly clock: Pick<ElectorClock, "steady" | "after">;
  readonly random: Pick<Random, "next">;
  readonly recorder: Recorder;
}

export interface ProberOptions {
  /** of the endpoint, as messages name it */
  readonly name: string;
  readonly check: Check;
  readonly address: string;
  readonly isReady: boolean;
  /** ms; initialDelaySeconds count from so long ago */
  readonly ageMs: number;
  /** The first probe waits for a random part of the period: an agent that starts would make all its probes at once. */
  readonly isSpread: boolean;
  onChange(): void;
}

export class Prober {
  readonly #readiness: Readiness;
  #isStopped = false;
  #cancel: () => void = () => undefined;
  #warned = "";
  /** It was said that the endpoint is not ready. */
  #isTold = false;
  /** steady ms: the wall clock may be set while the endpoint starts */
  readonly #firstAt: number;
  #nextAt: number;

  constructor(
    private readonly ports: ProberPorts,
    private readonly options: ProberOptions,
  ) {
    const { check, isReady, isSpread, ageMs } = options;
    this.#readiness = new Readiness(check, isReady);
    this.#firstAt = ports.clock.steady() - ageMs + check.initialDelaySeconds * 1_000;
    this.#nextAt = ports.clock.steady() + (isSpread ? Math.floor(ports.random.next() * this.#periodMs) : 0);
    this.#wait();
  }

  get isReady(): boolean {
    return this.#readiness.isReady;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  get #periodMs(): number {
    return this.options.check.periodSeconds * 1_000;
  }

  #wait(): void {
    const { clock } = this.ports;
    this.#cancel = clock.after(Math.max(0, this.#nextAt - clock.steady()), () => void this.#look());
  }

  async #look(): Promise<void> {
    const { clock } = this.ports;
    if (clock.steady() >= this.#firstAt) await this.#probe();
    if (this.#isStopped) return;
    // A probe that took longer than the period is followed at once, by one probe.
    this.#nextAt = Math.max(this.#nextAt + this.#periodMs, clock.steady());
    this.#wait();
  }

  async #probe(): Promise<void> {
    const { check, address, name, onChange } = this.options;
    const result = await runProbe(this.ports, check.target, address, check.timeoutSeconds * 1_000);
    if (this.#isStopped) return;
    const warning = (result.isSuccess && result.warning) || "";
    if (warning !== "" && warning !== this.#warned) this.ports.recorder.log("warn", "a check is redirected", { endpoint: name, warning });
    this.#warned = warning;
    const isChanged = this.#readiness.take(result.isSuccess);
    // Also of an endpoint that was never ready: nothing else would say why.
    if (!result.isSuccess && !this.isReady && !this.#isTold) {
      this.ports.recorder.log("warn", "an endpoint is not ready", { endpoint: name, why: result.why });
      this.#isTold = true;
    }
    if (!isChanged) return;
    if (this.isReady) this.ports.recorder.log("info", "an endpoint is ready", { endpoint: name });
    this.#isTold = !this.isReady;
    onChange();
  }
}
