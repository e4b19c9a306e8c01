/**
 * The copy of a store's objects from which a list of "any" version (`resourceVersion=0`) may be answered without asking the store. The store
 * publishes it to KV (publisher.ts), Workers read it (edge-lists.ts).
 *
 * What holds whatever KV does (loses, delays, rolls back, mixes up or damages values):
 * - A copy is of one revision, and that revision was durable before the copy left its store (rule 21).
 * - A list out of a copy is an answer that the store itself could have given at most LIST_COPY_AGE_MAX_MS ago: the same objects under the same
 *   resourceVersion. The watch that follows goes to the store, which delivers every later change or answers 410.
 * - KV is not trusted for the copy's incarnation and retained history. The store tells both in each answer to a list or watch
 *   (list-source.ts); a Worker that has not heard them for LIST_COPY_AGE_MAX_MS asks the store instead. A store that is replaced or trims its
 *   history after that looks to the client as after a slow answer of its own.
 * - Ages are differences to the reader's clock; a copy from the reader's future is not used.
 */
import { LIST_COPY_AGE_MAX_MS, LIST_COPY_CHARS_MAX } from "../state/limits";
import type { Digest } from "../../../core/base/ports";
import { seal, unseal } from "../../../core/encoding/sealed-text";
import { parseFieldSelector } from "../../meta/field-selector";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest } from "../../rpc/store";
import { inRange, type KeyRange } from "../state/keys";
import type { Published } from "./publisher";
import type { StoreEngine } from "../engine/store-engine";
import type { SnapshotRow } from "../state/snapshot";
import type { SeenStore } from "./list-source";

/** What a copy says of itself, before its rows. */
interface CopyHead {
  format: typeof FORMAT;
  /** the store's name, so that a value under another's key is not taken for it */
  name: string;
  incarnation: string;
  revision: number;
  /** milliseconds since the epoch at which the rows were the newest ones */
  takenAt: number;
  rows: number;
}

export interface ListCopy extends CopyHead {
  /** size in memory */
  chars: number;
  /** the objects of a range, in key order */
  rowsIn(range: KeyRange): Iterable<SnapshotRow>;
}

/** Raised with every change of the layout: Workers and objects of two releases run side by side for minutes. */
const FORMAT = 1;

/** The KV key of a store's copy. */
export function listCopyKey(name: string): string {
  return `list/${name}`;
}

/** `default/services`, `default/leases.coordination.k8s.io`: the store of a resource, whichever object keeps it. */
export function storeName(cluster: string, { group, resource }: { group: string; resource: string }): string {
  return group === "" ? `${cluster}/${resource}` : `${cluster}/${resource}.${group}`;
}

/** What a store's name says: see `storeName`. */
export interface StoreIdentity {
  cluster: string;
  group: string;
  resource: string;
}

/** The reverse of `storeName`. */
export function parseStoreName(name: string): StoreIdentity {
  const slash = name.indexOf("/");
  const [resource = "", ...group] = name.slice(slash + 1).split(".");
  return { cluster: name.slice(0, slash), group: group.join("."), resource };
}

/**
 * Whether "any version" is good enough for this request: a whole list at resourceVersion 0. The store answers a list of one name: the client has
 * just changed that object (`kubectl delete`, `wait`). The store answers a page that continues: it has the revision of its first page.
 * Confidential objects never leave their store as a copy. `limit` does not matter, because upstream ignores it at resourceVersion 0.
 */
export function mayComeFromCopy(request: CollectionRequest, { confidential }: Pick<ResourceDefinition, "confidential">): boolean {
  if (confidential) return false;
  if (request.verb !== "list" || request.resourceVersion !== "0" || request.continueToken !== "") return false;
  if (request.resourceVersionMatch !== "" && request.resourceVersionMatch !== "NotOlderThan") return false;
  const fields = parseFieldSelector(request.fieldSelector);
  return fields.ok && fields.value.terms.every(({ field }) => field !== "metadata.name");
}

/** Whether the copy may answer at `now`, by what the store itself has said. From below its floor a watch would be 410 at once. */
export function isUsable(copy: CopyHead, seen: SeenStore, now: number): boolean {
  return isRecent(copy.takenAt, now) && isRecent(seen.at, now) && copy.incarnation === seen.incarnation && copy.revision >= seen.floor;
}

/** Whether `at` is not in the future and not longer ago than a copy may be old. */
export function isRecent(at: number, now: number): boolean {
  return now >= at && now - at <= LIST_COPY_AGE_MAX_MS;
}

type CopiedStore = Pick<StoreEngine<unknown>, "storage" | "revision" | "incarnation" | "afterPublication" | "clock">;

/** A store as something to publish: what is taken is one revision, handed out once it is durable. A store that is too large is not published. */
export function listCopies(store: CopiedStore, name: string, digest: Digest): Published {
  return {
    version: () => `${store.incarnation}/${store.revision}`,
    take: async () => {
      const text = copyText(store, name);
      if (text === undefined) return undefined;
      await store.afterPublication(() => undefined);
      return seal(text, digest);
    },
  };
}

/** The head and one line for each row: neither keys nor JSON texts contain a tab or the end of a line. */
function copyText(store: CopiedStore, name: string): string | undefined {
  const lines: string[] = [];
  let chars = 0;
  for (const { key, data } of store.storage.objectScan("", "")) {
    chars += key.length + data.length + 2;
    if (chars > LIST_COPY_CHARS_MAX) return undefined;
    lines.push(`${key}\t${data}`);
  }
  const { incarnation, revision } = store;
  const head: CopyHead = { format: FORMAT, name, incarnation, revision, takenAt: store.clock.now(), rows: lines.length };
  return [JSON.stringify(head), ...lines].join("\n");
}

/** What `listCopies` published under this name; undefined for everything else, however it came about. */
export async function openListCopy(bytes: Uint8Array, name: string, digest: Digest): Promise<ListCopy | undefined> {
  const text = await unseal(bytes, digest);
  if (text === undefined) return undefined;
  const [headLine = "", ...lines] = text.split("\n");
  const head = headOf(headLine);
  if (head?.name !== name || head.rows !== lines.length) return undefined;
  return { ...head, chars: bytes.length, rowsIn: (range) => rowsIn(lines, range) };
}

function headOf(text: string): CopyHead | undefined {
  try {
    const head = JSON.parse(text) as CopyHead | null;
    return head?.format === FORMAT ? head : undefined;
  } catch {
    return undefined;
  }
}

function* rowsIn(lines: readonly string[], range: KeyRange): Iterable<SnapshotRow> {
  for (let at = firstFrom(lines, range.from); at < lines.length; at++) {
    const row = rowOf(lines[at] ?? "");
    if (!inRange(row.key, range)) return;
    yield row;
  }
}

/** Index of the first line whose key is not before `key`. */
function firstFrom(lines: readonly string[], key: string): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rowOf(lines[middle] ?? "").key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rowOf(line: string): SnapshotRow {
  const tab = line.indexOf("\t");
  return { key: line.slice(0, tab), data: line.slice(tab + 1) };
}
