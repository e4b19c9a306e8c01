/**
 * The objects that a watch begins with, as events at one revision. They are read as lists are (list/row-pages.ts). A beginning of up to a
 * megabyte is read in one turn. Of a longer one that first megabyte is, and then a page each time when the client has taken what it was given. So a client
 * that takes nothing costs no more than that, however many objects there are. While others write, the history tells what the objects were.
 */
import { err, ok, type Result } from "../../../core/base/result";
import { overloaded, type Status } from "../../meta/status";
import type { CollectionRequest } from "../../rpc/store";
import { FrameBuffer, type WatchFrame } from "../hub/frame-buffer";
import { EncodedPieces } from "./encoded-pieces";
import { LIST_BOUNDS, type ListBounds } from "../list/list-page";
import { isSeen, type RowPage, rowPages } from "../list/row-pages";
import { type StreamedList, StreamedLists } from "../list/streamed-lists";
import { rangeBehind } from "../state/keys";
import { LISTS_RETRY_SECONDS } from "../state/limits";
import { rowsNow } from "../state/snapshot";
import type { WatchedStore, WatchPlan } from "./watch-plan";

export interface WatchBeginning {
  /** what was read at once */
  readonly pieces: readonly Uint8Array[];
  /** what is read when the client takes it; absent = the pieces are all */
  readonly rest?: BeginningRest;
}

/** No objects, and nothing that ends them. */
export const NO_BEGINNING: WatchBeginning = { pieces: [] };

/** What large beginnings may take. */
export interface BeginningRoom {
  /** large beginnings have theirs among the lists */
  readonly places: Pick<StreamedLists, "begin">;
  readonly bounds: ListBounds;
}

/** Any number of large beginnings may be under way. */
export function anyRoom({ clock }: Pick<WatchedStore, "clock">): BeginningRoom {
  return { places: new StreamedLists(clock, 0), bounds: LIST_BOUNDS };
}

/** To be called in the turn of the plan. A Status refuses what finds no place. */
export function watchBeginning(
  store: WatchedStore,
  plan: WatchPlan,
  { allowWatchBookmarks }: Pick<CollectionRequest, "allowWatchBookmarks">,
  { places, bounds }: BeginningRoom,
): Result<WatchBeginning, Status> {
  const { filter, view, head } = plan;
  const pieces = new EncodedPieces(bounds.piece);
  let looked = 0;
  for (const row of rowsNow(store.storage, filter.range)) {
    if (isSeen(filter, row)) pieces.add(view.event("ADDED", row.data, pieces.isEmpty));
    looked += row.data.length;
    if (looked < bounds.whole) continue;
    const place = places.begin();
    if (!place) return err(overloaded(LISTS_RETRY_SECONDS));
    const pages = rowPages(store, { ...filter, range: rangeBehind(filter.range, row.key), revision: head }, bounds.piece);
    const rest = new BeginningRest(plan, pages, place, { bookmark: allowWatchBookmarks, hasFrames: !pieces.isEmpty });
    return ok({ pieces: pieces.finish(), rest });
  }
  if (allowWatchBookmarks) pieces.add(view.bookmark(head, true, pieces.isEmpty));
  return ok({ pieces: pieces.finish() });
}

/** The rest of a large beginning, with its place among the lists of the store. */
export class BeginningRest {
  #isOver = false;

  constructor(
    private readonly plan: WatchPlan,
    private readonly pages: AsyncGenerator<RowPage, void>,
    private readonly place: StreamedList,
    /** `bookmark`: one is to come, behind the objects; `hasFrames`: something was given before */
    private readonly state: { bookmark: boolean; hasFrames: boolean },
  ) {}

  /** The next events; undefined = it is complete, or was ended. Throws HistoryLost when the history forgets what is still to come. */
  async next(): Promise<Uint8Array | undefined> {
    const { view, head } = this.plan;
    const { value: page } = await this.pages.next();
    if (this.#isOver) return undefined;
    const { state } = this;
    const frames = new FrameBuffer();
    const add = (frame: WatchFrame): void => {
      frames.add(frame);
      state.hasFrames = true;
    };
    if (page) for (const text of page.rows) add(view.event("ADDED", text, !state.hasFrames));
    else if (state.bookmark) add(view.bookmark(head, true, !state.hasFrames));
    if (!page) this.end();
    return frames.size > 0 ? frames.take() : undefined;
  }

  /** Calls `broken` when another reader gets the place because this one took too long. */
  whenLost(broken: () => void): void {
    this.place.whenLost(() => {
      this.end();
      broken();
    });
  }

  /** Nobody needs the rest. Repeats do nothing. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.place.end();
    void this.pages.return().catch(() => undefined);
  }
}
