/** How one client sees the objects of a store: in which version and representation. Turns stored text into served text. */
import type { KubeObject } from "../meta/kubernetes";
import { type Envelope, listEnvelope, type ListMeta } from "../meta/list";
import { partialListEnvelope, partialOfStored } from "../meta/partial";
import { eventTable, tableEnvelope, type TableForm, tableRow } from "../meta/table";
import { apiVersionOf, typeHead } from "../meta/type-meta";
import { bookmarkFrame, bookmarkMetadata, changeFrame, eventFrame } from "../meta/watch-event";
import type { ResourceDefinition } from "../registry/resource";
import type { Representation } from "../rpc/store";
import type { ChangeType } from "./store-storage";

export interface View {
  /** equal ids mean equal bytes for equal objects */
  id: string;
  /** what stands before the first and after the last row of a list */
  envelope(meta: ListMeta): Envelope;
  /** one row of a list */
  item(stored: string): string;
  /** one line of a watch; `first` = the watch's first frame, which carries a Table's columns */
  event(type: ChangeType, stored: string, first: boolean): string;
  /** the line that names a revision; `first` as for `event` */
  bookmark(revision: number, initialEventsEnd: boolean, first: boolean): string;
}

/**
 * The view of `definition` (which may be another representation of the stored kind) in one of its versions. `now` gives the
 * milliseconds since the epoch against which a Table's ages are printed.
 */
export function viewOf(definition: ResourceDefinition, version: string, representation: Representation, now: () => number): View {
  const apiVersion = apiVersionOf(definition.group, version);
  const convert = definition.representationOf?.fromStored;
  const served = convert ? (stored: string) => JSON.stringify(convert(JSON.parse(stored) as KubeObject)) : (stored: string) => stored;
  const bookmark = (revision: number, initialEventsEnd: boolean): string =>
    bookmarkOf(definition.kind, apiVersion, revision, initialEventsEnd);
  const head = typeHead(definition.kind, apiVersion);
  switch (representation.as) {
    case "object":
      return {
        id: apiVersion,
        envelope: (meta) => listEnvelope(definition.kind, apiVersion, meta),
        item: served,
        event: (type, stored) => changeFrame(type, head, served(stored)),
        bookmark,
      };
    case "partial":
      return {
        id: `partial/${representation.version}`,
        envelope: (meta) => partialListEnvelope(representation.version, meta),
        item: (stored) => partialOfStored(representation.version, stored),
        event: (type, stored) => eventFrame(type, partialOfStored(representation.version, stored)),
        bookmark: (revision, initialEventsEnd) =>
          bookmarkOf("PartialObjectMetadata", `meta.k8s.io/${representation.version}`, revision, initialEventsEnd),
      };
    case "table": {
      const form: TableForm = { ...representation, columns: definition.columns, objectHead: head };
      // The annotation tells where the initial events end: a row without an object could not carry it.
      const endForm: TableForm = form.includeObject === "None" ? { ...form, includeObject: "Metadata" } : form;
      const row = (stored: string): { text: string; resourceVersion: string } => {
        const text = served(stored);
        const object = JSON.parse(text) as KubeObject;
        return {
          text: tableRow(form, definition.cells(object, now()), object, text),
          resourceVersion: object.metadata?.resourceVersion ?? "",
        };
      };
      return {
        id: `table/${apiVersion}/${representation.version}/${representation.includeObject}`,
        envelope: (meta) => tableEnvelope(form, meta),
        item: (stored) => row(stored).text,
        event: (type, stored, first) => {
          const { text, resourceVersion } = row(stored);
          return eventFrame(type, eventTable(form, text, resourceVersion, first));
        },
        bookmark: (revision, initialEventsEnd, first) => {
          const object: KubeObject = { metadata: bookmarkMetadata(String(revision), initialEventsEnd) };
          const text = tableRow(initialEventsEnd ? endForm : form, definition.cells(object, now()), object, JSON.stringify(object));
          return eventFrame("BOOKMARK", eventTable(form, text, String(revision), first));
        },
      };
    }
  }
}

function bookmarkOf(kind: string, apiVersion: string, revision: number, initialEventsEnd: boolean): string {
  return bookmarkFrame({ kind, apiVersion, resourceVersion: String(revision), initialEventsEnd });
}
