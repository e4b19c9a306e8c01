/** How large whole lists were recently, as this isolate has seen them: an estimate of what the next list of the same collection costs. */
import { COMPRESSIBLE_HEADER } from "../../../api/store/list/collection-header";
import { RecentMap } from "../recent-map";

/** Some hundred bytes each. */
const LISTS_MAX = 1_000;
const CHARS_PER_SEAT = 100_000;
/** The largest list takes this part of all seats for reads, so that ten such lists are under way. */
const SHARE_MAX = 1 / 10;
const PAGED = ["limit", "continue"];
const NARROWED = [...PAGED, "labelSelector", "fieldSelector"];

export interface ListedCollection {
  /** its name */
  cluster: string;
  group: string;
  resource: string;
  /** "" = all */
  namespace: string;
}

export class ListSizes {
  readonly #chars = new RecentMap<string, number>(LISTS_MAX);

  /** Notes an answer of a store. A selected part or a page says nothing about the whole. */
  note(collection: ListedCollection, query: URLSearchParams, { ok, headers }: Pick<Response, "ok" | "headers">): void {
    if (!ok || NARROWED.some((name) => query.get(name))) return;
    const key = keyOf(collection);
    const chars = Number(headers.get(COMPRESSIBLE_HEADER) ?? 0);
    if (chars > CHARS_PER_SEAT) this.#chars.put(key, chars);
    else this.#chars.delete(key);
  }

  /** The seats that a list takes, of `max` for all reads (0 = any number). A store reads the whole for a part that is selected, but not for a page. */
  seatsOf(collection: ListedCollection, query: URLSearchParams, max: number): number {
    if (PAGED.some((name) => query.get(name))) return 1;
    const seats = Math.ceil((this.#chars.get(keyOf(collection)) ?? 0) / CHARS_PER_SEAT);
    return Math.max(1, Math.min(seats, Math.floor(max * SHARE_MAX)));
  }
}

/** One for each isolate. */
export const listSizes = new ListSizes();

function keyOf({ cluster, group, resource, namespace }: ListedCollection): string {
  return `${cluster}/${group}/${resource}/${namespace}`;
}
