/**
 * The page of each node for its data plane: every Service with the endpoints that this node uses, or what changed since the page it has. It is for
 * proxies that do not speak watch.
 *
 * - Each time that changes are applied is a revision, counted from the beginning of this object. A change that leaves a node's bytes as they are is none
 *   for that node.
 * - Changes since a revision are complete: what a node holds after them is what a full page has. The caller sees to it that the node had the same zone then.
 * - A revision whose removals are forgotten gets a full page.
 */
import { greatestOf } from "../../core/base/extremes";
import { FAMILIES } from "../../core/net/family";
import { objectKey } from "../../api/store/state/keys";
import type { MergedService, ServiceChanges, ServiceRef } from "../merge/merged-services";
import type { NodePlace } from "../merge/usable-endpoints";
import { BytesByPlace } from "./bytes-by-place";
import { LOCAL_PIECE, type Piece, refBytes, SHARED_PIECE } from "./service-bytes";

export interface ProxyConfigPage {
  /** of the newest change that the node sees */
  readonly revision: number;
  /** true: the page has all Services, and what it has not is gone */
  readonly isFull: boolean;
  /** each a JSON object in pieces, which the pages of many nodes share (service-bytes.ts) */
  readonly services: readonly (readonly Uint8Array[])[];
  /** Services that are gone, each a JSON object */
  readonly removed: readonly Uint8Array[];
}

/** Services that may have changed before the revision at which somebody stands. */
export interface TouchedServices {
  /** `namespace/name` of Services that may have been others, or none, or more */
  readonly defined: ReadonlySet<string>;
  /** those that may have had other endpoints */
  readonly served: ReadonlySet<string>;
}

type Touched = ReadonlyMap<string, Uint8Array | undefined>;

const NONE_TOUCHED: Touched = new Map();

const PIECES = [SHARED_PIECE, LOCAL_PIECE];

/** Removals that are remembered: enough for a client that polls every few minutes while a namespace goes. */
const REMOVALS_MAX = 10_000;

interface PagedService {
  readonly pieces: readonly BytesByPlace[];
  /** No node's bytes are newer. */
  revision: number;
}

interface Removal {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

/** A Service that changed or went, by its key. */
interface ConfigChange {
  readonly key: string;
  readonly revision: number;
}

/** Changes that may be overtaken beside as many as count, before they are dropped. */
const SPARE_CHANGES = 1_000;

export class ProxyConfigs {
  readonly #services = new Map<string, PagedService>();
  /** oldest first */
  readonly #removals = new Map<string, Removal>();
  /** oldest first; one that a later change of its Service has overtaken says nothing */
  #changes: ConfigChange[] = [];
  readonly #pieces = PIECES.map((piece) => this.#counted(piece));
  #made = 0;
  #revision = 0;
  /** of the newest removal that was forgotten */
  #forgotten = 0;

  constructor(private readonly removalsMax = REMOVALS_MAX) {}

  /** of the newest changes; 0 = there were none */
  get revision(): number {
    return this.#revision;
  }

  apply({ updated, removed }: ServiceChanges): void {
    if (updated.length === 0 && removed.length === 0) return;
    const revision = ++this.#revision;
    for (const merged of updated) {
      const key = keyOf(merged.service);
      this.#removals.delete(key);
      const known = this.#services.get(key);
      if (known) update(known, merged, revision);
      else this.#services.set(key, { pieces: this.#pieces.map((piece) => new BytesByPlace(piece, merged, revision)), revision });
      this.#changes.push({ key, revision });
    }
    for (const ref of removed) {
      const key = keyOf(ref);
      this.#services.delete(key);
      this.#removals.set(key, { bytes: refBytes(ref), revision });
      this.#changes.push({ key, revision });
    }
    this.#forgetRemovals();
    this.#dropOvertaken();
  }

  /** How often bytes were made since the beginning: for nodes that share them, once. */
  get made(): number {
    return this.#made;
  }

  /**
   * What changed for the node since that revision, and those that were touched; undefined = nothing. Without a revision that counts, all Services. Where
   * `defined` names a Service, those of its families that are not there are told as removed, though the node may never have had them.
   */
  page(node: NodePlace, since?: number, before?: TouchedServices): ProxyConfigPage | undefined {
    const from = since !== undefined && since >= this.#forgotten && since <= this.#revision ? since : undefined;
    const touched = from === undefined || !before ? NONE_TOUCHED : this.#touched(before);
    const services: Uint8Array[][] = [];
    const removed: Uint8Array[] = [];
    let newest = Math.max(from ?? 0, this.#forgotten);
    const changed = from === undefined ? [...this.#services.keys(), ...this.#removals.keys()] : this.#changedSince(from);
    for (const key of new Set([...changed, ...touched.keys()])) {
      const versions = this.#services.get(key)?.pieces.map((piece) => piece.versionFor(node));
      const removal = this.#removals.get(key);
      const revision = greatestOf([removal?.revision ?? 0, ...(versions ?? []).map((version) => version.revision)]);
      if (revision > (from ?? -1) || touched.has(key)) {
        const gone = removal?.bytes ?? touched.get(key);
        if (versions) services.push(versions.map(({ bytes }) => bytes));
        else if (gone && from !== undefined) removed.push(gone);
      }
      newest = Math.max(newest, revision);
    }
    if (newest === from && services.length + removed.length === 0) return undefined;
    return { revision: newest, isFull: from === undefined, services, removed };
  }

  /** Whether no node's page has changed since the revision; false = some may have. */
  isSameSince(revision: number): boolean {
    const pieces = this.#changedSince(revision).flatMap((key): (BytesByPlace | undefined)[] => [
      ...(this.#services.get(key)?.pieces ?? [undefined]),
    ]);
    return revision >= this.#forgotten && pieces.every((piece) => (piece?.ofAll?.revision ?? Infinity) <= revision);
  }

  /** By the keys of what is told in any case: what is said of one that is not there. */
  #touched({ defined, served }: TouchedServices): Touched {
    const touched = new Map<string, Uint8Array | undefined>();
    const tell = (service: string, isDefined: boolean): void => {
      for (const family of FAMILIES) {
        const ref = { ...objectKey(service), family };
        const key = keyOf(ref);
        if (this.#services.has(key)) touched.set(key, undefined);
        else if (isDefined) touched.set(key, refBytes(ref));
      }
    };
    for (const service of served) tell(service, false);
    for (const service of defined) tell(service, true);
    return touched;
  }

  /** The keys of what changed after the revision, oldest first. */
  #changedSince(from: number): string[] {
    const keys: string[] = [];
    for (let i = this.#changes.length - 1; i >= 0; i--) {
      const change = this.#changes[i];
      if (!change || change.revision <= from) break;
      if (this.#counts(change)) keys.push(change.key);
    }
    return keys.reverse();
  }

  #counts({ key, revision }: ConfigChange): boolean {
    return (this.#services.get(key) ?? this.#removals.get(key))?.revision === revision;
  }

  #dropOvertaken(): void {
    if (this.#changes.length <= 2 * (this.#services.size + this.#removals.size) + SPARE_CHANGES) return;
    this.#changes = this.#changes.filter((change) => this.#counts(change));
  }

  #counted(piece: Piece): Piece {
    return {
      toldApart: (merged) => piece.toldApart(merged),
      bytesOf: (merged, place) => {
        this.#made++;
        return piece.bytesOf(merged, place);
      },
    };
  }

  #forgetRemovals(): void {
    for (const [key, { revision }] of this.#removals) {
      if (this.#removals.size <= this.removalsMax) return;
      this.#removals.delete(key);
      this.#forgotten = revision;
    }
  }
}

function update(service: PagedService, merged: MergedService, revision: number): void {
  for (const piece of service.pieces) piece.update(merged, revision);
  service.revision = revision;
}

function keyOf({ namespace, name, family }: ServiceRef): string {
  return `${namespace}/${name}/${family}`;
}
