/** The writes of a Pod, one after another. */
import type { WriteRequest } from "../../api/rpc/store";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { type Outcome, outcomeOf } from "../../controllers/frame/round";

/** Another Pod of the same name has another uid. */
export interface PodIdentity {
  /** storage key */
  readonly key: string;
  readonly uid: string;
}

/** Makes the writes in order. What does not succeed, because the Pod is gone or the store refuses, ends them. */
export async function writtenInOrder(pods: Pick<WrittenStore, "write">, requests: readonly WriteRequest[]): Promise<Outcome> {
  for (const request of requests) {
    const outcome = outcomeOf(await pods.write(request));
    if (outcome !== "done") return outcome;
  }
  return "done";
}

/** Names the work on a Pod. */
export function nameOfPod({ key, uid }: PodIdentity): string {
  return `pod ${key} of uid ${uid}`;
}
