/** The view of a client that reads JSON: whole objects, their metadata alone, or Tables. Stored text is served as it is where that is possible. */
import { parseJson } from "../../../core/encoding/exact-json";
import { impliedValue } from "../../fields/field-plan";
import type { KubeObject } from "../../meta/kubernetes";
import { type Envelope, listEnvelope } from "../../meta/list";
import { partialListEnvelope, partialOfStored } from "../../meta/partial";
import { eventTable, tableEnvelope, type TableForm, tableRow } from "../../meta/table";
import { apiVersionOf, typeHead } from "../../meta/type-meta";
import { bookmarkFrame, bookmarkMetadata, changeFrame, eventFrame } from "../../meta/watch-event";
import type { ServedAt } from "../../../core/net/served-at";
import type { ResourceDefinition } from "../../registry/resource";
import type { JsonObject, JsonValue } from "../../schema/json/json-value";
import type { Field, MessageSchema } from "../../schema/types";
import type { AnswerForm } from "../../rpc/store";
import type { JsonListForm, View } from "./view";

/** As for `viewOf`. */
export function jsonViewOf(
  definition: ResourceDefinition,
  version: string,
  representation: AnswerForm,
  now: () => number,
  servedAt?: ServedAt,
): View {
  const view = viewIn(definition, version, representation, now, servedAt);
  return servedAt ? { ...view, id: `${view.id} ${JSON.stringify(servedAt)}` } : view;
}

function viewIn(
  definition: ResourceDefinition,
  version: string,
  representation: AnswerForm,
  now: () => number,
  servedAt: ServedAt | undefined,
): View {
  const apiVersion = apiVersionOf(definition.group, version);
  const convert = definition.representationOf?.fromStored;
  const served = convert
    ? (stored: string) => JSON.stringify(convert(parseJson(stored) as KubeObject, servedAt))
    : (stored: string) => stored;
  const members = emptyMembers(definition.schema);
  const bookmark = (revision: number, initialEventsEnd: boolean): string =>
    bookmarkFrame({ kind: definition.kind, apiVersion, resourceVersion: String(revision), initialEventsEnd, members });
  const head = typeHead(definition.kind, apiVersion);
  switch (representation.as) {
    case "object":
      return {
        id: apiVersion,
        list: (meta) => jsonList(listEnvelope(definition.kind, apiVersion, meta), served),
        event: (type, stored) => changeFrame(type, head, served(stored)),
        bookmark,
      };
    case "partial":
      return {
        id: convert ? `partial/${apiVersion}/${representation.version}` : `partial/${representation.version}`,
        list: (meta) =>
          jsonList(partialListEnvelope(representation.version, meta), (row) => partialOfStored(representation.version, served(row))),
        event: (type, stored) => eventFrame(type, partialOfStored(representation.version, served(stored))),
        bookmark: (revision, initialEventsEnd) =>
          bookmarkFrame({
            kind: "PartialObjectMetadata",
            apiVersion: `meta.k8s.io/${representation.version}`,
            resourceVersion: String(revision),
            initialEventsEnd,
          }),
      };
    case "table": {
      const form: TableForm = {
        ...representation,
        columns: definition.columns,
        rowConditions: definition.rowConditions,
        objectHead: head,
      };
      // The annotation tells where the initial events end: a row without an object could not carry it.
      const endForm: TableForm = form.includeObject === "None" ? { ...form, includeObject: "Metadata" } : form;
      const row = (stored: string): { text: string; resourceVersion: string } => {
        const text = served(stored);
        const object = parseJson(text) as KubeObject;
        return {
          text: tableRow(form, definition.cells(object, now()), object, text),
          resourceVersion: object.metadata?.resourceVersion ?? "",
        };
      };
      return {
        id: `table/${apiVersion}/${representation.version}/${representation.includeObject}`,
        list: (meta) => jsonList(tableEnvelope(form, meta), (stored) => row(stored).text),
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

function jsonList(envelope: Envelope, row: (stored: string) => string): JsonListForm {
  return { encoding: "json", envelope, row };
}

/**
 * What a bookmark's object has beside its metadata: the members that the kind requires, empty. Clients that check each object, as Java's
 * official one, refuse a bookmark without them. Upstream sends empty members of other kinds, too; these clients refuse some, such as a spec of a Pod
 * whose containers are null.
 */
function emptyMembers({ fields, isKind }: MessageSchema): JsonObject {
  const needed = fields.filter(({ name, presence, required }) => (presence === "always" || required) && !(isKind && name === "metadata"));
  return Object.fromEntries(needed.map((field) => [field.name, emptyValue(field)]));
}

function emptyValue(field: Field): JsonValue {
  const { type, presence } = field;
  if (type.kind === "message" && presence !== "pointer") return emptyMembers(type.message());
  return impliedValue(field) ?? null;
}
