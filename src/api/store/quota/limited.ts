/**
 * An extension inside the limits of quotas: what they refuse never comes to it, so no address is taken for it. The guard judges and counts inside the
 * transaction, so it stands around the extension and is no observer.
 */
import type { Clock } from "../../../core/base/ports";
import { throttled } from "../../../core/turns/throttle";
import type { StoreExtension } from "../state/extension";
import { forwarded } from "../state/forwarded-extension";
import type { QuotaGuard } from "./quota-guard";

/** Between two reports of usage: a burst of creates is one pass of the controller, not one for each turn. */
const USAGE_REPORT_INTERVAL_MS = 500;

export interface LimitedPorts {
  clock: Clock;
  guard: QuotaGuard;
  /** What some limited namespace uses has changed. A restart loses a report. */
  usageChanged(): void;
  /** The same, after each turn: cron makes up for a lost report. */
  noteBusy(): void;
}

export function limited<Supply>(
  { clock, guard, usageChanged, noteBusy }: LimitedPorts,
  inner: StoreExtension<Supply>,
): StoreExtension<Supply> {
  const report = throttled(clock, USAGE_REPORT_INTERVAL_MS, usageChanged);
  let changed = false;
  return {
    ...forwarded(inner),
    admit(change, operation) {
      const admission = guard.admit(change);
      return admission.kind === "go" ? (inner.admit?.(change, operation) ?? admission) : admission;
    },
    committed(change, operation) {
      inner.committed?.(change, operation);
      if (guard.committed(change)) changed = true;
    },
    turnCommitted() {
      inner.turnCommitted?.();
      if (!changed) return;
      changed = false;
      noteBusy();
      report();
    },
    writeUndone() {
      guard.undone();
      inner.writeUndone?.();
    },
    turnLost() {
      inner.turnLost?.();
      changed = false;
      guard.undone();
    },
  };
}
