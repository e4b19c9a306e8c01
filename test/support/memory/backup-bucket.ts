/** A bucket in memory, with the rules of R2: all parts of an upload but the last are of one size, and not small, and a key is there when its upload is complete. */
import { BucketRefused, type RoundPorts } from "../../../src/tools/backup/rounds";

export class MemoryBucket {
  readonly files = new Map<string, Uint8Array>();
  /** of files of parts: the backup that wrote them */
  readonly #ids = new Map<string, string>();
  readonly #uploads = new Map<string, { key: string; of: string; parts: Map<number, { bytes: Uint8Array; tag: string }> }>();
  #round: { bytes: Uint8Array; tag: string } | undefined;
  #tags = 0;
  calls = 0;
  /** "before": the n-th call (from 1) has no effect and fails; "after": it has its effect, and nobody hears of it. */
  fault: { at: number; when: "before" | "after" } | undefined;
  /** all calls fail */
  refuses = false;

  get uploads(): number {
    return this.#uploads.size;
  }

  text(key: string): string {
    const bytes = this.files.get(key);
    if (!bytes) throw new Error(`there is no ${key}`);
    return new TextDecoder().decode(bytes);
  }

  /** `partMin`: bytes of a part, of R2 5 MiB */
  constructor(private readonly partMin = 5 * 1024 * 1024) {}

  readonly port: RoundPorts["bucket"] = {
    has: (key, id) => this.#call(() => this.files.has(key) && this.#ids.get(key) === id),
    put: (key, bytes) =>
      this.#call(() => {
        this.files.set(key, bytes.slice());
        this.#ids.delete(key);
      }),
    begin: (key, of) =>
      this.#call(() => {
        const id = `upload-${String(++this.#tags)}`;
        this.#uploads.set(id, { key, of, parts: new Map() });
        return id;
      }),
    part: (_, upload, number, bytes) =>
      this.#call(() => {
        const tag = `tag-${String(++this.#tags)}`;
        this.#upload(upload).parts.set(number, { bytes: bytes.slice(), tag });
        return tag;
      }),
    complete: (key, upload, tags) =>
      this.#call(() => {
        const { parts, of } = this.#upload(upload);
        const used = tags.map((tag, i) => {
          const part = parts.get(i + 1);
          if (part?.tag !== tag) throw new BucketRefused(`part ${String(i + 1)} is another one`);
          return part.bytes;
        });
        const [first] = used;
        if (used.slice(0, -1).some(({ length }) => length < this.partMin || length !== first?.length))
          throw new BucketRefused("parts of other sizes");
        this.files.set(key, new Uint8Array(Buffer.concat(used)));
        this.#ids.set(key, of);
        this.#uploads.delete(upload);
      }),
    keepNewest: (name, count) =>
      this.#call(() => {
        const keys = [...this.files.keys()].filter((key) => key.startsWith(`${name}/`)).sort();
        for (const key of keys.slice(0, Math.max(0, keys.length - count))) this.files.delete(key);
      }),
    load: () => this.#call(() => this.#round),
    save: (bytes, tag) =>
      this.#call(() => {
        if (this.#round?.tag !== tag) return undefined;
        this.#round = { bytes: bytes.slice(), tag: `tag-${String(++this.#tags)}` };
        return this.#round.tag;
      }),
  };

  /** What is kept between runs, for tests that spoil it. */
  setRound(bytes: Uint8Array): void {
    this.#round = { bytes, tag: `tag-${String(++this.#tags)}` };
  }

  #upload(upload: string): { of: string; parts: Map<number, { bytes: Uint8Array; tag: string }> } {
    const found = this.#uploads.get(upload);
    if (!found) throw new BucketRefused("there is no such upload");
    return found;
  }

  #call<T>(effect: () => T): Promise<T> {
    this.calls++;
    const when = this.fault?.at === this.calls ? this.fault.when : undefined;
    if (this.refuses || when === "before") return Promise.reject(new BucketRefused("the bucket refuses"));
    try {
      const value = effect();
      return when === "after" ? Promise.reject(new BucketRefused("the answer was lost")) : Promise.resolve(value);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
