/**
 * The store of Namespaces tells the store of Services changes of labels, while that wants to hear of them (rpc/namespace-labels.ts). While it does not,
 * a write costs a comparison in memory.
 *
 * - A change of labels is noted in its own transaction, with an alarm. A death behind it leaves the note, and the next life tells.
 * - The note of what was told is written behind the answer. A death between the two has the change told twice.
 * - The answer to the client waits for the other store, but not for long. From then on the alarm tries again.
 * - What is told are the changes of the history behind what was told. Where it does not reach back, the other store is told to ask again.
 * - That nothing more is wanted counts only if nobody has asked since the message left.
 */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { SharedCall } from "../../core/turns/shared-call";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { parseJson } from "../../core/encoding/exact-json";
import { semanticEqual } from "../../api/meta/equality";
import type { KubeObject } from "../../api/meta/kubernetes";
import type { LabelledStore, ToldNamespace } from "../../api/rpc/namespace-labels";
import type { StoreEngine } from "../../api/store/engine/store-engine";
import type { Operation, StoreExtension } from "../../api/store/state/extension";

/** How long the answer to a change of labels waits for the store of Services. */
export const LABELS_WAIT_MS = 2_000;
/** From a change, and from a failure, to the next attempt; doubled with each failure up to the maximum. */
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** Changes told in one message. */
const CHANGES_MAX = 1_000;

export interface LabelNote {
  /** how often the store of Services has asked to be told */
  asked: number;
  isWanted: boolean;
  /** revision up to which the store of Services knows the labels */
  told: number;
  /** revision of the last change of labels while they were wanted */
  changed: number;
}

/** In the database of the store of Namespaces. */
export interface LabelNotes {
  labelNote(): LabelNote | undefined;
  labelNoteSave(note: LabelNote): void;
}

export interface LabelPushPorts {
  clock: Clock;
  recorder: Recorder;
  notes: LabelNotes;
  /** the store of Namespaces */
  namespaces(): Pick<StoreEngine, "storage" | "revision" | "floor">;
  /** the store of Services; makes a stub for one call */
  services(): LabelledStore;
  /** the object has an alarm at this time (ms since the epoch) or earlier, durable with the writes of the turn */
  wakeBy(atMs: number): void;
}

const NOTHING: LabelNote = { asked: 0, isWanted: false, told: 0, changed: 0 };

export class LabelPushes {
  /** as on disk; undefined = to be read */
  #note: LabelNote | undefined;
  readonly #messages = new SharedCall(() => this.#tell());
  #failures = 0;
  /** when the alarm tells, in milliseconds since the epoch; undefined = at once, as behind a death */
  #dueAt: number | undefined;

  constructor(private readonly ports: LabelPushPorts) {}

  /** The part of the namespaces store's extension that notes and tells. */
  extension(): Pick<StoreExtension<undefined>, "committed" | "settled" | "writeUndone" | "turnLost"> {
    const begun = new WeakSet<Operation<undefined>>();
    const forget = (): void => (this.#note = undefined);
    return {
      committed: (change, operation) => {
        const note = this.#read();
        if (!note.isWanted || semanticEqual(labelsOf(change.before), labelsOf(change.after))) return;
        this.#save({ ...note, changed: change.revision });
        this.#tellBy(this.ports.clock.now() + RETRY_MS);
        if (operation) begun.add(operation);
      },
      settled: async (operation) => {
        if (begun.has(operation)) await withTimeout(this.ports.clock, LABELS_WAIT_MS, this.tell()).catch(() => undefined);
      },
      writeUndone: forget,
      turnLost: forget,
    };
  }

  /** See LabelSource. What changes from here on is told; what changed before is in what the asking store reads. */
  ask(): void {
    const { revision } = this.ports.namespaces();
    this.#save({ asked: this.#read().asked + 1, isWanted: true, told: revision, changed: 0 });
  }

  /** The store was brought back in time: what it has told before may be lost here. Nobody waits for the store of Services. */
  beginAnew(): void {
    const { clock, namespaces } = this.ports;
    this.#save({ asked: this.#read().asked + 1, isWanted: true, told: -1, changed: namespaces().revision });
    this.#tellBy(clock.now() + RETRY_MS);
    // Where the disk fails, the alarm tells.
    this.tell().catch(() => undefined);
  }

  /** When the alarm has work, in milliseconds since the epoch; undefined = never. */
  get dueAt(): number | undefined {
    const { isWanted, told, changed } = this.#read();
    return isWanted && changed > told ? (this.#dueAt ?? this.ports.clock.now()) : undefined;
  }

  /** The alarm went off, perhaps for somebody else. */
  async tellDue(): Promise<void> {
    const at = this.dueAt;
    if (at !== undefined && at <= this.ports.clock.now()) await this.tell();
  }

  /** Tells what is not told. One message at a time; who comes meanwhile waits for the one after it. Rejects where the disk fails. */
  tell(): Promise<void> {
    return this.#messages.begin();
  }

  async #tell(): Promise<void> {
    const { clock, recorder, services } = this.ports;
    const { asked, isWanted, told, changed } = this.#read();
    if (!isWanted || changed <= told) return;
    const through = this.ports.namespaces().revision;
    try {
      const isWantedStill = await withTimeout(clock, RPC_TIMEOUT_MS, services().takeNamespaceLabels(this.#changesSince(told)));
      this.#failures = 0;
      const note = this.#read();
      if (note.asked === asked) this.#save({ ...note, isWanted: isWantedStill, told: through });
    } catch (error) {
      recorder.log("warn", "the store of Services was not told the labels of namespaces", { error: String(error) });
      this.#tellBy(clock.now() + Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** this.#failures++));
    }
  }

  #tellBy(atMs: number): void {
    this.#dueAt = atMs;
    this.ports.wakeBy(atMs);
  }

  /** null = the history does not reach back, or there are too many changes. */
  #changesSince(told: number): ToldNamespace[] | null {
    const { storage, floor } = this.ports.namespaces();
    if (told < floor || told < 0) return null;
    const changes = [...storage.changesSince(told, CHANGES_MAX + 1)];
    if (changes.length > CHANGES_MAX) return null;
    return changes.map(({ key, type, data, revision }) => {
      const labels = type === "DELETED" ? null : (labelsOf(parseJson(data) as KubeObject) ?? {});
      return { name: key, revision, labels };
    });
  }

  #read(): LabelNote {
    return (this.#note ??= this.ports.notes.labelNote() ?? NOTHING);
  }

  #save(note: LabelNote): void {
    this.ports.notes.labelNoteSave(note);
    this.#note = note;
  }
}

function labelsOf(namespace: KubeObject | undefined): Record<string, string> | undefined {
  return namespace?.metadata?.labels;
}
