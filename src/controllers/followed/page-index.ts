/**
 * In which page each fact may stand: 8 bytes and the free places for each fact, where a Map has more than a hundred. A fact is known by the hash of its id
 * alone. So the answer may name a page of another fact: who asks looks into the page.
 */
const FREE = 0;
const GONE = 0xffffffff;
const SIZE_MIN = 16;

export class PageIndex {
  /** page + 1, by hash */
  #pages = new Uint32Array(SIZE_MIN);
  #hashes = new Uint32Array(SIZE_MIN);
  /** places that are not free */
  #used = 0;
  #size = 0;

  /** @param hash 32 bits */
  add(hash: number, page: number): void {
    this.#size++;
    if (4 * ++this.#used > 3 * this.#pages.length) this.#rebuild();
    this.#put(hash, page + 1);
  }

  delete(hash: number, page: number): void {
    for (const at of this.#placesOf(hash)) {
      if (this.#pages[at] !== page + 1) continue;
      this.#pages[at] = GONE;
      this.#size--;
      return;
    }
  }

  /** Pages in which facts of this hash stand. */
  of(hash: number): Set<number> {
    return new Set([...this.#placesOf(hash)].map((at) => (this.#pages[at] ?? FREE) - 1));
  }

  clear(): void {
    this.#pages = new Uint32Array(SIZE_MIN);
    this.#hashes = new Uint32Array(SIZE_MIN);
    this.#used = this.#size = 0;
  }

  *#placesOf(hash: number): Iterable<number> {
    const mask = this.#pages.length - 1;
    for (let at = hash & mask; this.#pages[at] !== FREE; at = (at + 1) & mask) {
      if (this.#pages[at] !== GONE && this.#hashes[at] === hash) yield at;
    }
  }

  #put(hash: number, entry: number): void {
    const mask = this.#pages.length - 1;
    let at = hash & mask;
    while (this.#pages[at] !== FREE) at = (at + 1) & mask;
    this.#pages[at] = entry;
    this.#hashes[at] = hash;
  }

  /** A third of the places or less are used then. */
  #rebuild(): void {
    const [pages, hashes] = [this.#pages, this.#hashes];
    let length = SIZE_MIN;
    while (length < 2 * this.#size) length *= 2;
    this.#pages = new Uint32Array(length);
    this.#hashes = new Uint32Array(length);
    this.#used = this.#size;
    for (const [at, entry] of pages.entries()) if (entry !== FREE && entry !== GONE) this.#put(hashes[at] ?? 0, entry);
  }
}
