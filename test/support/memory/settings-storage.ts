import type { SeenDifference, SettingsStorage } from "../../../src/addresses/repair/settings-watch";
import type { Settings } from "../../../src/core/config/settings";

/** SettingsStorage in memory. */
export class MemorySettingsStorage implements SettingsStorage {
  #opened: Settings = {};
  readonly #rows = new Map<string, SeenDifference & { isNew: boolean }>();

  openedLoad(): Settings {
    return this.#opened;
  }

  openedSave(settings: Settings): void {
    this.#opened = settings;
  }

  differencePut(seen: SeenDifference): void {
    this.#rows.set(seen.name, { ...seen, isNew: true });
  }

  differencesLoad(): SeenDifference[] {
    return seenIn([...this.#rows.values()]);
  }

  differencesTake(): SeenDifference[] {
    const taken = [...this.#rows.values()].filter(({ isNew }) => isNew);
    for (const row of taken) row.isNew = false;
    return seenIn(taken);
  }

  differencesTrim(seenBefore: number): void {
    for (const [name, { seenAt }] of this.#rows) if (seenAt < seenBefore) this.#rows.delete(name);
  }
}

/** By name, as the database answers. */
function seenIn(rows: readonly SeenDifference[]): SeenDifference[] {
  return rows.map(({ name, value, seenAt }) => ({ name, value, seenAt })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
