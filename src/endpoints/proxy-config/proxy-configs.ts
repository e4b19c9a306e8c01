/**
 * The page of each node for its data plane: every Service with the endpoints that this node uses, or what changed since the page it has. It is for
 * proxies that do not speak watch.
 *
 * - A page's ETag has the revision of the newest change that this node sees. A change that leaves a node's bytes as they are leaves its ETag.
 * - Changes since an ETag are complete: what a node holds after them is what a full page has.
 * - An ETag of another run, another zone or a time whose removals are forgotten gets a full page.
 */
import { greatestOf } from "../../core/base/extremes";
import type { MergedService, ServiceChanges, ServiceRef } from "../merge/merged-services";
import type { NodePlace } from "../merge/usable-endpoints";
import { BytesByPlace } from "./bytes-by-place";
import { LOCAL_PIECE, type Piece, refBytes, SHARED_PIECE } from "./service-bytes";

export interface ProxyConfigPage {
  readonly etag: string;
  /** true: the page has all Services, and what it has not is gone */
  readonly isFull: boolean;
  /** each a JSON object in pieces, which the pages of many nodes share (service-bytes.ts) */
  readonly services: readonly (readonly Uint8Array[])[];
  /** Services that are gone, each a JSON object */
  readonly removed: readonly Uint8Array[];
}

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

  constructor(
    /** another one for each run: letters and digits */
    private readonly run: string,
    private readonly removalsMax = REMOVALS_MAX,
  ) {}

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

  /** What changed for the node since the page with the ETag `since`; undefined = nothing. Without an ETag that counts, all Services. */
  page(node: NodePlace, since?: string): ProxyConfigPage | undefined {
    const from = since === undefined ? undefined : this.#revisionOf(since, node);
    const services: Uint8Array[][] = [];
    const removed: Uint8Array[] = [];
    let newest = Math.max(from ?? 0, this.#forgotten);
    for (const key of from === undefined ? [...this.#services.keys(), ...this.#removals.keys()] : this.#changedSince(from)) {
      const versions = this.#services.get(key)?.pieces.map((piece) => piece.versionFor(node));
      const removal = this.#removals.get(key);
      const revision = greatestOf([removal?.revision ?? 0, ...(versions ?? []).map((version) => version.revision)]);
      if (revision > (from ?? -1)) {
        if (versions) services.push(versions.map(({ bytes }) => bytes));
        else if (removal && from !== undefined) removed.push(removal.bytes);
      }
      newest = Math.max(newest, revision);
    }
    if (newest === from) return undefined;
    return { etag: this.#etag(newest, node), isFull: from === undefined, services, removed };
  }

  #etag(revision: number, { zone = "" }: NodePlace): string {
    return `"${this.run}-${revision}-${encodeURIComponent(zone)}"`;
  }

  /** undefined = changes since then cannot be told. A proxy on the way may have made the ETag a weak one. */
  #revisionOf(etag: string, node: NodePlace): number | undefined {
    const text = etag.startsWith("W/") ? etag.slice(2) : etag;
    const revision = Number(text.split("-")[1]);
    const isOurs = Number.isSafeInteger(revision) && text === this.#etag(revision, node);
    return isOurs && revision >= this.#forgotten && revision <= this.#revision ? revision : undefined;
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
