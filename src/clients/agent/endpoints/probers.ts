/** The probers of the node's Pods: one for each Pod whose entry has a check, from its first sight to its end. */
import type { Pod } from "../../../api/meta/kubernetes";
import { parseTime } from "../../../api/meta/time";
import type { ElectorClock } from "../../elector/term";
import type { Check, EndpointEntry } from "./endpoint-entry";
import { fits } from "./endpoint-pod";
import { isReadyInStatus } from "./pod-status";
import { Prober, type ProberPorts } from "./prober";

interface RunningProber {
  readonly prober: Prober;
  /** the check as JSON */
  readonly check: string;
}

export class Probers {
  /** by uid of the Pod */
  readonly #kept = new Map<string, RunningProber>();
  readonly #begun: number;

  constructor(
    private readonly ports: ProberPorts & { readonly clock: Pick<ElectorClock, "now"> },
    private readonly address: string,
    private readonly onChange: () => void,
  ) {
    this.#begun = ports.clock.steady();
  }

  /** These are all Pods of the agent, each with the entry that it is made like, if there is one. A Pod without goes on as it was probed. */
  retain(pods: readonly (readonly [Pod, EndpointEntry | undefined])[]): void {
    const uids = new Set<string>();
    for (const [pod, entry] of pods) {
      uids.add(uidOf(pod));
      if (entry && fits(pod, entry)) this.#probe(pod, entry);
    }
    for (const [uid, { prober }] of this.#kept) {
      if (uids.has(uid)) continue;
      prober.stop();
      this.#kept.delete(uid);
    }
  }

  /** What the probes of the Pod say. Without a prober: ready, if its entry has no check; else what its status says. */
  isReady(pod: Pod, entry: EndpointEntry | undefined): boolean {
    const kept = this.#kept.get(uidOf(pod));
    if (kept) return kept.prober.isReady;
    return entry && !entry.check && fits(pod, entry) ? true : isReadyInStatus(pod);
  }

  stop(): void {
    this.retain([]);
  }

  #probe(pod: Pod, { name, check }: EndpointEntry): void {
    const uid = uidOf(pod);
    const known = this.#kept.get(uid);
    const json = JSON.stringify(check ?? null);
    if (known?.check === json) return;
    known?.prober.stop();
    this.#kept.delete(uid);
    if (check) this.#kept.set(uid, { check: json, prober: this.#begin(pod, name, check, known?.prober.isReady ?? isReadyInStatus(pod)) });
  }

  /** A Pod that was ready stays so until its probes say otherwise: the agent alone was restarted, or the check alone is another one. */
  #begin(pod: Pod, name: string, check: Check, isReady: boolean): Prober {
    const { clock } = this.ports;
    const startedAt = parseTime(pod.status?.startTime) ?? clock.now();
    // A clock that was set back since: the delay begins anew.
    const ageMs = Math.max(0, clock.now() - startedAt);
    const isSpread = clock.steady() - this.#begun < check.periodSeconds * 1_000;
    const { address, onChange } = this;
    return new Prober(this.ports, { name, check, address, isReady, ageMs, isSpread, onChange });
  }
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? "";
}
