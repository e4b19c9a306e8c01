/** Which view a request asks for. */
import type { Status } from "../../meta/status";
import { errorFrame } from "../../meta/watch-event";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest, Encoding } from "../../rpc/store";
import type { WatchFrame } from "./frame-buffer";
import { jsonViewOf } from "./json-view";
import { protobufErrorFrame, protobufViewOf } from "./protobuf-view";
import type { View } from "./view";

/**
 * The view of `definition` (which may be another representation of the stored kind) in the request's version, representation and encoding. `now`
 * gives the milliseconds since the epoch against which a Table's ages are printed.
 */
export function viewOf(
  definition: ResourceDefinition,
  { version, representation, encoding, servedAt }: Pick<CollectionRequest, "version" | "representation" | "encoding" | "servedAt">,
  now: () => number,
): View {
  // A Table has no protobuf form.
  if (encoding === "protobuf" && representation.as !== "table") return protobufViewOf(definition, version, representation);
  return jsonViewOf(definition, version, representation, now, servedAt);
}

/** The last frame of a failed watch. */
export function errorEvent(status: Status, encoding: Encoding | undefined): WatchFrame {
  return encoding === "protobuf" ? protobufErrorFrame(status) : errorFrame(status);
}
