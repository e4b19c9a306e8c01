/** Counters that outlive their object: ledger/count-keeper.ts says when they are written. */
export interface KeptCounters {
  /** whether `save` would write anything */
  readonly unsaved: boolean;
  /** writes what has changed; inside a transaction, after which `lost` is called if it did not take place */
  save(): void;
  /** the writes of the last `save` are lost: the next one repeats them */
  lost(): void;
}

/** Several sets of counters, kept in one transaction. */
export function keptTogether(...parts: readonly KeptCounters[]): KeptCounters {
  return {
    get unsaved() {
      return parts.some(({ unsaved }) => unsaved);
    },
    save() {
      for (const part of parts) part.save();
    },
    lost() {
      for (const part of parts) part.lost();
    },
  };
}
