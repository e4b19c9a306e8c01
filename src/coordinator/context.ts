/** What the Coordinator's jobs share. */
import type { Clock, Recorder } from "../base/ports";
import type { CoordinatorStorage } from "./coordinator-storage";
import type { CoordinatorPeers, ServiceCIDRObjects } from "./ports";
import type { View } from "./view";

/** A call to another object that takes longer counts as failed; it may still have its effect. */
const CALL_TIMEOUT_MS = 5_000;

export interface JobContext {
  storage: CoordinatorStorage;
  objects: ServiceCIDRObjects;
  peers: CoordinatorPeers;
  clock: Clock;
  recorder: Recorder;
  /** the rows as they are now */
  view(): View;
  /** Runs `work` in a transaction that also brings epoch, configurations and readiness up to date. */
  mutate(work: () => void): void;
}

/** The call's answer, or a rejection after CALL_TIMEOUT_MS. */
export function withTimeout<T>(clock: Clock, call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(CALL_TIMEOUT_MS, () => reject(new Error(`no answer within ${CALL_TIMEOUT_MS} ms`)));
    void call.then(resolve, reject).finally(cancel);
  });
}
