/** One client write on its way through the turns of its store, with the result of its last turn. */
import type { Status } from "../../meta/status";
import type { WriteRequest } from "../../rpc/store";
import type { Operation } from "../state/extension";
import type { Prepared } from "./prepared";

export class PendingWrite<Supply> implements Operation<Supply> {
  supply: Supply | undefined;
  /** reused by a turn that finds the same stored object */
  prepared: { baseRevision: number; value: Prepared } | undefined;
  /** set when the write can only be given up */
  refusal: Status | undefined;
  /** the key that this write reserves (reserved-keys.ts); "" = none */
  reservedKey = "";
  /** `closes` of the namespace guard when this write asked it; -1 = it has not */
  askedAt = -1;
  /** resolves when the write has its answer */
  readonly ended: Promise<void>;
  #end: () => void = () => undefined;

  constructor(
    readonly request: WriteRequest,
    readonly deadline: number,
  ) {
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  end(): void {
    this.#end();
  }
}
