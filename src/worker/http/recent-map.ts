/** A map that stays small: beyond its bound it drops the entry that was put least recently. */
export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>();

  constructor(private readonly max: number) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  put(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.max) this.takeOldest();
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** Takes away the entry that was put least recently. */
  takeOldest(): V | undefined {
    for (const [key, value] of this.#entries) {
      this.#entries.delete(key);
      return value;
    }
    return undefined;
  }
}
