/** The writes of a Pod, one after another. What the store refuses waits for minutes, so that it holds up no other Pod. */
import type { Clock, Recorder } from "../../core/base/ports";
import type { WriteRequest } from "../../api/rpc/store";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { isPassing, Refusals } from "../../controllers/followed/refusals";

const REFUSED_WAITS = { first: 60_000, longest: 10 * 60_000 };

/** `done`: nothing is left to do. `failed`: the next pass tries again. `refused`: a pass tries again when the wait is over. */
export type Written = "done" | "failed" | "refused";

/** Another Pod of the same name has another uid. */
export interface PodIdentity {
  /** storage key */
  readonly key: string;
  readonly uid: string;
}

export class PodWrites {
  readonly #refusals: Refusals;

  constructor(private readonly ports: { clock: Pick<Clock, "now">; recorder: Recorder; pods: Pick<WrittenStore, "write"> }) {
    this.#refusals = new Refusals(ports, REFUSED_WAITS);
  }

  /** Makes the writes in order. A Pod that is gone ends them. Never rejects. */
  async inOrder(pod: PodIdentity, requests: readonly WriteRequest[]): Promise<Written> {
    try {
      for (const request of requests) {
        const answer = await this.ports.pods.write(request);
        if (answer.ok) continue;
        const { status } = answer;
        if (status.code === 404) return "done";
        if (isPassing(status)) return "failed";
        this.#refusals.refused(nameOf(pod), status);
        return "refused";
      }
      return "done";
    } catch {
      return "failed";
    }
  }

  mayTry(pod: PodIdentity): boolean {
    return this.#refusals.mayTry(nameOf(pod));
  }

  /** Whether the last try was refused. */
  isRefused(pod: PodIdentity): boolean {
    return this.#refusals.has(nameOf(pod));
  }

  /** When the next refused writes may be tried again, in milliseconds since the epoch; undefined = none wait. */
  nextAt(): number | undefined {
    return this.#refusals.nextAt();
  }

  /** Forgets the refusals of all other Pods. */
  keep(pods: Iterable<PodIdentity>): void {
    if (this.#refusals.isEmpty) return;
    const kept = new Set(Array.from(pods, nameOf));
    this.#refusals.keep((name) => kept.has(name));
  }
}

const nameOf = ({ key, uid }: PodIdentity): string => `pod ${key} of uid ${uid}`;
