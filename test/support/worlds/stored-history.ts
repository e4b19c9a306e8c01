/** What the rows of a store say of its history, and how tests change that. */
import { ObjectCounts } from "../../../src/api/store/state/object-counts";
import type { StoreState, StoreStorage } from "../../../src/api/store/state/store-storage";

function savedState(storage: StoreStorage): StoreState {
  const state = storage.stateLoad();
  if (!state) throw new Error("the store has a state");
  return state;
}

/** The counts of a store as a start finds them: with what was written since its state was saved. */
export function storedCounts(storage: StoreStorage): ObjectCounts {
  const { counted, through } = savedState(storage);
  const counts = new ObjectCounts(storage, counted);
  counts.add(storage.historyHeads(through));
  return counts;
}

/** The state of a store in the same way; its counts are as they were saved. */
export function storedState(storage: StoreStorage): StoreState {
  const state = savedState(storage);
  for (const head of storage.historyHeads(state.through)) {
    state.through = head.revision;
    state.historyEntries++;
    state.historySize += head.size;
  }
  return state;
}

/** The newest revision whose change is in the rows. */
export function newestStored(storage: StoreStorage): number {
  return storedState(storage).through;
}

/** The history forgets all changes through a revision, as after very many. `floor`: what the store says of it */
export function forgetHistory(storage: StoreStorage, through: number, floor = through): void {
  const state = storedState(storage);
  const counted = storedCounts(storage).save();
  const { entries, chars } = storage.historyTrim(state.floor, through);
  const left = { historyEntries: state.historyEntries - entries, historySize: state.historySize - chars };
  storage.stateSave({ ...state, ...left, floor, counted });
}
