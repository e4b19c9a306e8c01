/** How one client sees the objects of a store: in which version, representation and encoding. Turns stored text into what is served. */
import type { Envelope, ListMeta } from "../../meta/list";
import type { EncodedItems } from "../../schema/protobuf/encode-protobuf";
import type { WatchFrame } from "./frame-buffer";
import type { ChangeType } from "../../meta/watch-event";

export interface View {
  /** equal ids mean equal bytes for equal objects */
  id: string;
  /** how a list with this metadata is written */
  list(meta: ListMeta): JsonListForm | ProtobufListForm;
  /** one frame of a watch; `first` = the watch's first frame, which carries a Table's columns */
  event(type: ChangeType, stored: string, first: boolean): WatchFrame;
  /** the frame that names a revision; `first` as for `event` */
  bookmark(revision: number, initialEventsEnd: boolean, first: boolean): WatchFrame;
}

/** A list as text: head, rows joined by ",", tail. */
export interface JsonListForm {
  encoding: "json";
  envelope: Envelope;
  row(stored: string): string;
}

/** A list whose size must be known before its first byte: its items are encoded in runs, then comes the head. */
export interface ProtobufListForm {
  encoding: "protobuf";
  /** the items of these rows; `encoded`: those of them, by their index, whose bytes are there */
  items(stored: readonly string[], encoded?: EncodedItems): Uint8Array<ArrayBuffer>;
  /** what stands before the items, which take `itemsBytes` together */
  head(itemsBytes: number): Uint8Array<ArrayBuffer>;
  tail(): Uint8Array<ArrayBuffer>;
}
