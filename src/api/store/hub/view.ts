/** How one client sees the objects of a store: in which version, representation and encoding. Turns stored text into what is served. */
import type { Envelope, ListMeta } from "../../meta/list";
import type { WatchFrame } from "./frame-buffer";
import type { ChangeType } from "../../meta/watch-event";

export interface View {
  /** equal ids mean equal bytes for equal objects */
  id: string;
  /** a list of these stored objects */
  list(meta: ListMeta, stored: string[]): JsonList | ProtobufList;
  /** one frame of a watch; `first` = the watch's first frame, which carries a Table's columns */
  event(type: ChangeType, stored: string, first: boolean): WatchFrame;
  /** the frame that names a revision; `first` as for `event` */
  bookmark(revision: number, initialEventsEnd: boolean, first: boolean): WatchFrame;
}

/** A list as text: head, rows joined by ",", tail. */
export interface JsonList {
  encoding: "json";
  envelope: Envelope;
  rows: string[];
}

/** A list whose size must be known before its first byte: its items are encoded in runs, then comes the head. */
export interface ProtobufList {
  encoding: "protobuf";
  /** stored text */
  rows: string[];
  /** the items of these rows */
  items(rows: readonly string[]): Uint8Array<ArrayBuffer>;
  /** what stands before the items, which take `itemsBytes` together */
  head(itemsBytes: number): Uint8Array<ArrayBuffer>;
  tail(): Uint8Array<ArrayBuffer>;
}
