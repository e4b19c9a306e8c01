/**
 * The part of the reconciliation that needs nobody else: from what is (objects, claims, fences) to the next epoch with the configuration of
 * every owner, and which ranges are ready. Runs in the same transaction as the change that made it necessary, so a crash leaves either
 * neither or both, and a configuration is durable before it can be pushed (PROTOCOL rule 11). Repeating it changes nothing.
 */
import type { CoordinatorStorage } from "./coordinator-storage";
import { View } from "./view";

/** To be called inside a transaction, after every change of the rows. Answers the view of the rows as they are now. */
export function advance(storage: CoordinatorStorage, nowMs: number): View {
  let view = new View(storage.load());
  for (const step of [endFences, nextEpoch, updateReadiness]) {
    if (step(view, storage, nowMs)) view = new View(storage.load());
  }
  return view;
}

/** Each step answers whether it wrote anything. */
function endFences(view: View, storage: CoordinatorStorage, nowMs: number): boolean {
  const over = [...view.cidrs.values()].filter((cidr) => cidr.fencedUntil > 0 && cidr.fencedUntil <= nowMs);
  for (const cidr of over) storage.cidrSave({ ...cidr, fencedUntil: 0 });
  return over.length > 0;
}

/** Owners whose content changes get it under the next epoch; the others keep theirs, and nothing is pushed to them (rule 17). */
function nextEpoch(view: View, storage: CoordinatorStorage): boolean {
  const epoch = view.epoch + 1;
  let changed = false;
  let wrote = false;
  for (const [uid, desired] of view.desiredContents()) {
    const owner = view.owners.get(uid);
    const content = JSON.stringify(desired);
    if (owner?.content !== content) {
      storage.ownerSave({ uid, epoch, content, ackedEpoch: owner?.ackedEpoch ?? 0 });
      changed = true;
    } else if (desired.retired && owner.ackedEpoch === owner.epoch) {
      storage.ownerDelete(uid);
      wrote = true;
    }
  }
  if (changed) storage.epochSave(epoch);
  return changed || wrote;
}

/** A range becomes ready with its owners' acknowledgement and stays so until it is taken back, whatever else its owners are told later. */
function updateReadiness(view: View, storage: CoordinatorStorage): boolean {
  let changed = false;
  for (const range of view.ranges) {
    const ready = view.isAllocatable(range) && (range.ready || view.areSettled(view.ownersUnder([range])));
    if (ready === range.ready) continue;
    storage.rangeSave({ uid: range.uid, prefix: range.prefix, ready });
    changed = true;
  }
  return changed;
}
