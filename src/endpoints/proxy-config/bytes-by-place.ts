/** One piece of a Service's bytes for all nodes, and when it last changed for each of them. */
import type { MergedService } from "../merge/merged-services";
import type { NodePlace } from "../merge/usable-endpoints";
import type { Piece, ToldApart } from "./service-bytes";

/** What nodes of one kind get. */
export interface Version {
  readonly bytes: Uint8Array;
  /** of the change that made the bytes */
  readonly revision: number;
}

interface CheckedVersion extends Version {
  /** of the definition that the bytes were made or confirmed from */
  checkedAt: number;
}

/** Names that a Service may tell apart beside twice those of now, before it forgets names that are gone. */
const SPARE_NAMES = 100;

/**
 * Bytes are made when a node first asks, once for all nodes that the Service does not tell apart. A name once told apart stays so: a node that loses
 * its endpoint must not be taken for one that never had any, because the revision of their bytes differs.
 */
export class BytesByPlace {
  #merged: MergedService;
  #revision: number;
  #nodes: Set<string>;
  #zones: Set<string>;
  readonly #versions = new Map<string, CheckedVersion>();

  constructor(
    private readonly piece: Piece,
    merged: MergedService,
    revision: number,
  ) {
    this.#merged = merged;
    this.#revision = revision;
    const { nodes, zones } = piece.toldApart(merged);
    this.#nodes = new Set(nodes);
    this.#zones = new Set(zones);
  }

  update(merged: MergedService, revision: number): void {
    this.#merged = merged;
    this.#revision = revision;
    const now = this.piece.toldApart(merged);
    for (const node of now.nodes) this.#nodes.add(node);
    for (const zone of now.zones) this.#zones.add(zone);
    if (this.#nodes.size + this.#zones.size > 2 * (now.nodes.size + now.zones.size) + SPARE_NAMES) this.#forget(now);
  }

  versionFor({ name, zone }: NodePlace): Version {
    const node = this.#nodes.has(name) ? name : "";
    const knownZone = zone !== undefined && this.#zones.has(zone) ? zone : undefined;
    const kind = `${node}/${knownZone ?? ""}`;
    const known = this.#versions.get(kind);
    if (known?.checkedAt === this.#revision) return known;
    const bytes = this.piece.bytesOf(this.#merged, { name: node, zone: knownZone });
    if (known && sameBytes(known.bytes, bytes)) {
      known.checkedAt = this.#revision;
      return known;
    }
    const made = { bytes, revision: this.#revision, checkedAt: this.#revision };
    this.#versions.set(kind, made);
    return made;
  }

  /** The bytes that every node and zone gets; undefined = some may get others. */
  get ofAll(): Version | undefined {
    return this.#nodes.size + this.#zones.size > 0 ? undefined : this.versionFor({ name: "", zone: undefined });
  }

  /** Every node gets its bytes anew, as those of this revision. */
  #forget({ nodes, zones }: ToldApart): void {
    this.#nodes = new Set(nodes);
    this.#zones = new Set(zones);
    this.#versions.clear();
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
