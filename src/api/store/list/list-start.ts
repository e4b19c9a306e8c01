/** Where a list begins: at which revision, and behind which key. */
import { err, ok, type Result } from "../../../core/base/result";
import { decodeContinue, encodeContinue } from "../../meta/continue-token";
import { badRequest, expired, revisionTooLarge, type Status } from "../../meta/status";
import type { CollectionRequest } from "../../rpc/store";
import type { StoreEngine } from "../engine/store-engine";

type ListStartStore = Pick<StoreEngine<unknown>, "clock" | "revision" | "listFloor" | "isOfAnotherLife" | "incarnation">;

/** Upstream compacts the history of etcd so often (apiserver storage/storagebackend, DefaultCompactInterval). */
export const TOKEN_LIFE_MS = 5 * 60_000;

const CONTINUE_EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
  "or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an " +
  "inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

export interface ListStart {
  revision: number;
  /** when the first page was made, in ms */
  madeAt: number;
  /** list goes on behind this key; "" = from the beginning */
  after: string;
  /** how many objects are behind it, as the token says */
  remaining?: number;
}

export function startOf(store: ListStartStore, request: CollectionRequest): Result<ListStart, Status> {
  if (request.continueToken) return continued(store, request.continueToken);
  const madeAt = store.clock.now();
  const wanted = Number(request.resourceVersion || "0");
  if (wanted > store.revision) return err(revisionTooLarge(request.resourceVersion, store.revision));
  if (store.isOfAnotherLife(wanted)) return err(tooOld());
  const exact = request.resourceVersionMatch === "Exact" || (wanted > 0 && request.limit > 0 && request.resourceVersionMatch === "");
  if (!exact || wanted === 0) return ok({ revision: store.revision, madeAt, after: "" });
  if (wanted < store.listFloor) return err(tooOld());
  return ok({ revision: wanted, madeAt, after: "" });
}

function continued(store: ListStartStore, text: string): Result<ListStart, Status> {
  const token = decodeContinue(text);
  if (!token.ok) return err(badRequest(token.error));
  const { revision, start: after, incarnation, madeAt, ...left } = token.value;
  const now = store.clock.now();
  if (revision === -1 && incarnation === store.incarnation) return ok({ revision: store.revision, madeAt: now, after, ...left });
  const isThere =
    incarnation === store.incarnation && revision >= store.listFloor && revision <= store.revision && !store.isOfAnotherLife(revision);
  if (!isThere || now - madeAt > TOKEN_LIFE_MS) {
    const status = expired(CONTINUE_EXPIRED);
    status.metadata.continue = encodeContinue({ revision: -1, start: after, incarnation: store.incarnation, madeAt: now, ...left });
    return err(status);
  }
  return ok({ revision, madeAt, after, ...left });
}

function tooOld(): Status {
  return expired("The resourceVersion for the provided list is too old.");
}
