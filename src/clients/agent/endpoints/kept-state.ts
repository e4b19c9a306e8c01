/** What the endpoint part knows after a restart: endpoints that a user has switched off on this Node, and the last good file. */
import { errorOf } from "../../../api/client/follow-collection";
import { isJsonObject, type JsonObject, type JsonValue, setMember } from "../../../api/schema/json/json-value";
import type { Recorder } from "../../../core/base/ports";
import type { StateFiles } from "../ports/agent-ports";
import { type EndpointEntry, entryKey } from "./endpoint-entry";

const FILE = "endpoints.json";

export class KeptState {
  /** by key of an entry, the entry as JSON that was switched off */
  readonly #off = new Map<string, string>();
  /** uid of the Node that `#off` is about; undefined = no Node has been held yet */
  #node: string | undefined;
  #good: { readonly name: string; readonly text: string } | undefined;
  #isSaved = true;
  #isFailing = false;

  private constructor(
    private readonly files: StateFiles,
    private readonly recorder: Recorder,
  ) {}

  /** Rejects when the file cannot be read. A damaged one is as none, and that is said. */
  static async read(files: StateFiles, recorder: Recorder): Promise<KeptState> {
    const state = new KeptState(files, recorder);
    const text = await files.read(FILE);
    if (text !== undefined && !state.#take(text)) recorder.log("warn", "the state of endpoints is damaged and begins anew", { file: FILE });
    return state;
  }

  /** The text of a file of this name that was good. */
  goodText(name: string): string | undefined {
    return this.#good?.name === name ? this.#good.text : undefined;
  }

  keepGood(name: string, text: string): void {
    if (this.goodText(name) === text) return;
    this.#good = { name, text };
    this.#isSaved = false;
  }

  /** The agent holds the Node with this uid. A new Node begins with all its endpoints: whatever ended the Pods of the one before ended a node. */
  holdNode(uid: string): void {
    if (this.#node === uid) return;
    if (this.#node !== undefined) this.#off.clear();
    this.#node = uid;
    this.#isSaved = false;
  }

  isOff(entry: EndpointEntry): boolean {
    return this.#off.get(entryKey(entry)) === JSON.stringify(entry);
  }

  /** Another entry of the same key is on. */
  switchOff(entry: EndpointEntry): void {
    this.#off.set(entryKey(entry), JSON.stringify(entry));
    this.#isSaved = false;
  }

  /** These are all entries. What was off and is not among them, or has changed, is forgotten: it is on when it comes back. */
  retain(entries: Iterable<EndpointEntry>): void {
    const kept = new Map([...entries].map((entry) => [entryKey(entry), JSON.stringify(entry)]));
    for (const [key, json] of this.#off) {
      if (kept.get(key) === json) continue;
      this.#off.delete(key);
      this.#isSaved = false;
    }
  }

  /** Writes what has changed. Never rejects: a disk that is full stops no endpoint. It is said once, and the next call tries again. */
  async save(): Promise<void> {
    if (this.#isSaved) return;
    this.#isSaved = true;
    const off: JsonObject = {};
    for (const [key, json] of this.#off) setMember(off, key, json);
    try {
      const node = this.#node !== undefined && { node: this.#node };
      await this.files.write(FILE, JSON.stringify({ ...node, off, ...(this.#good && { good: { ...this.#good } }) }));
      this.#isFailing = false;
    } catch (error) {
      this.#isSaved = false;
      if (!this.#isFailing) this.recorder.log("error", "the state of endpoints cannot be saved", { why: errorOf(error).message });
      this.#isFailing = true;
    }
  }

  /** false = the text is damaged. */
  #take(text: string): boolean {
    try {
      const { node, off = {}, good } = JSON.parse(text) as { node?: JsonValue; off?: JsonValue; good?: JsonValue };
      if (!isJsonObject(off)) return false;
      if (typeof node === "string") this.#node = node;
      for (const [key, json] of Object.entries(off)) if (typeof json === "string") this.#off.set(key, json);
      if (!isJsonObject(good)) return good === undefined;
      const { name, text: saved } = good;
      if (typeof name === "string" && typeof saved === "string") this.#good = { name, text: saved };
      return true;
    } catch {
      return false;
    }
  }
}
