/** An extension inside the limits of quotas: what they refuse never comes to it, so no address is taken for it. */
import type { Clock } from "../../../core/base/ports";
import { throttled } from "../../../core/base/throttle";
import type { StoreExtension } from "../state/extension";
import { observed } from "../feeds/observed";
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
  const following = observed(inner, {
    committed: (change) => {
      if (guard.committed(change)) changed = true;
    },
    turnCommitted: () => {
      if (!changed) return;
      changed = false;
      noteBusy();
      report();
    },
    turnLost: () => {
      changed = false;
      guard.undone();
    },
  });
  return {
    ...following,
    admit(change, operation) {
      const admission = guard.admit(change);
      return admission.kind === "go" ? (inner.admit?.(change, operation) ?? admission) : admission;
    },
    writeUndone() {
      guard.undone();
      inner.writeUndone?.();
    },
  };
}
