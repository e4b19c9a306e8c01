/** Deletes many objects of one store, some at a time. */
import type { Status } from "../../meta/status";
import type { CollectionRequest, WriteRequest, WriteResult } from "../../rpc/store";
import { objectKey } from "../state/keys";

/** Objects deleted together: enough for one group commit, few enough to leave room for other writes. */
const DELETED_TOGETHER = 200;

export class BatchedDeletion {
  constructor(
    private readonly write: (request: WriteRequest) => Promise<WriteResult>,
    private readonly together = DELETED_TOGETHER,
  ) {}

  /** Deletes by storage key, in batches; an object that is gone already counts as deleted. Answers the first other refusal. */
  async delete(keys: readonly string[], options?: CollectionRequest["deleteOptions"]): Promise<Status | undefined> {
    const deleteOptions = options ?? { dryRun: false, preconditions: {}, propagationPolicy: "" as const, gracePeriodSeconds: undefined };
    for (const batch of this.batches(keys)) {
      const results = await Promise.all(batch.map((key) => this.write({ verb: "delete", key: objectKey(key), options: deleteOptions })));
      for (const result of results) if (!result.ok && result.status.code !== 404) return result.status;
    }
    return undefined;
  }

  *batches(keys: readonly string[]): Generator<readonly string[]> {
    for (let at = 0; at < keys.length; at += this.together) yield keys.slice(at, at + this.together);
  }
}
