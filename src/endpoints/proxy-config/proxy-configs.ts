/**
 * The page of each node for its data plane: every Service with the endpoints that this node uses, or what changed since the page it has. It is for
 * proxies that do not speak watch.
 *
 * - A page's ETag has the revision of the newest change that this node sees. A change that leaves a node's bytes as they are leaves its ETag.
 * - Changes since an ETag are complete: what a node holds after them is what a full page has.
 * - An ETag of another run, another zone or a time whose removals are forgotten gets a full page.
 */
import type { MergedService, ServiceChanges, ServiceRef } from "../client/merged-services";
import type { NodePlace } from "../client/usable-endpoints";
import { BytesByPlace } from "./bytes-by-place";
import { LOCAL_PIECE, refBytes, SHARED_PIECE } from "./service-bytes";

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

export class ProxyConfigs {
  readonly #services = new Map<string, PagedService>();
  /** oldest first */
  readonly #removals = new Map<string, Removal>();
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
      else this.#services.set(key, { pieces: PIECES.map((piece) => new BytesByPlace(piece, merged, revision)), revision });
    }
    for (const ref of removed) {
      this.#services.delete(keyOf(ref));
      this.#removals.set(keyOf(ref), { bytes: refBytes(ref), revision });
    }
    this.#forgetRemovals();
  }

  /** What changed for the node since the page with the ETag `since`; undefined = nothing. Without an ETag that counts, all Services. */
  page(node: NodePlace, since?: string): ProxyConfigPage | undefined {
    const from = since === undefined ? undefined : this.#revisionOf(since, node);
    const services: Uint8Array[][] = [];
    let newest = Math.max(from ?? 0, this.#forgotten);
    for (const service of this.#services.values()) {
      if (from !== undefined && service.revision <= from) continue;
      const versions = service.pieces.map((piece) => piece.versionFor(node));
      const revision = Math.max(...versions.map((version) => version.revision));
      if (from !== undefined && revision <= from) continue;
      services.push(versions.map(({ bytes }) => bytes));
      newest = Math.max(newest, revision);
    }
    const removed: Uint8Array[] = [];
    for (const { bytes, revision } of this.#removals.values()) {
      if (from !== undefined && revision > from) removed.push(bytes);
      newest = Math.max(newest, revision);
    }
    if (newest === from) return undefined;
    return { etag: this.#etag(newest, node), isFull: from === undefined, services, removed };
  }

  #etag(revision: number, { zone = "" }: NodePlace): string {
    return `"${this.run}-${revision}-${zone}"`;
  }

  /** undefined = changes since then cannot be told. A proxy on the way may have made the ETag a weak one. */
  #revisionOf(etag: string, node: NodePlace): number | undefined {
    const text = etag.startsWith("W/") ? etag.slice(2) : etag;
    const revision = Number(text.split("-")[1]);
    const isOurs = Number.isSafeInteger(revision) && text === this.#etag(revision, node);
    return isOurs && revision >= this.#forgotten && revision <= this.#revision ? revision : undefined;
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
