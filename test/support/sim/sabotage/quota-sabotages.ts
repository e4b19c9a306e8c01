/** Switches that take one protection of quotas out, to show that its absence is noticed. */
import type { QuotaMarks } from "../../../../src/controllers/quotas/quota-pushes";
import { MemoryQuotaStorage } from "../../memory/quota-storage";
import type { QuotaSabotage } from "../quotas";

/** By what is missing. Made anew for every history. */
export const quotaSabotages: Readonly<Record<string, () => QuotaSabotage>> = {
  "mark of changed limits": noMark,
  "base of changed limits": () => ({
    // A store takes changes, wherever it stands.
    message: (message, known) =>
      message.since === null || known?.source !== message.source ? message : { ...message, since: known.through, base: known.state },
  }),
  "held limits": () => ({ held: () => [] }),
};

/** A change of limits is remembered, and not with its own transaction: who dies forgets it. */
function noMark(): QuotaSabotage {
  return {
    marks(marks) {
      const own = new MemoryQuotaStorage();
      const of = (name: string): QuotaMarks => (name === "" ? own : marks);
      return {
        markGet: (name) => of(name).markGet(name),
        markSet: (name, revision) => of(name).markSet(name, revision),
        stateGet: (name) => of(name).stateGet(name),
        stateSet: (name, state) => of(name).stateSet(name, state),
      };
    },
  };
}
