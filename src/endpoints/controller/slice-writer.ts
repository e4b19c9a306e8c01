/** Makes the planned writes of slices (upstream reconciler.finalize). */
import { inParallel } from "../../core/base/in-parallel";
import { readObject } from "../../api/meta/read-object";
import type { EndpointSlice } from "../../api/meta/kubernetes";
import type { Status } from "../../api/meta/status";
import type { StoreRpc, WriteRequest } from "../../api/rpc/store";
import type { SliceChanges } from "../slices/slice-changes";
import type { SliceTracker } from "../slices/slice-tracker";
import type { LookResult } from "./pass-kit";
import {
  createRequest,
  deleteRequest,
  isNamespaceTerminating,
  refusalOf,
  updateRequest,
  type Writer,
} from "../../controllers/followed/write-requests";
import { WRITES_AT_ONCE } from "../../controllers/frame/planned-work";

export type WriteOperation = "create" | "update" | "delete";

/** What became of the writes; `why` is upstream's text of what failed. */
export interface SliceWrites {
  result: LookResult;
  why?: string;
}

export interface SliceWriterPorts {
  store: Pick<StoreRpc, "write">;
  tracker: SliceTracker;
  writer: Writer;
  /** kind of the object that the slices belong to, for the text */
  owner: "Service" | "Endpoints";
  /** a write was made */
  made: (operation: WriteOperation) => void;
  /** bounds the writes of all Services together */
  limited: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * First all creates, then the updates, then the deletions; after a failure nothing more is begun. A deletion of what is gone has done its work.
 *
 * @param ownerKey for the text
 */
export async function writeSlices(
  ports: SliceWriterPorts,
  ownerKey: string,
  { create, update, remove }: SliceChanges,
): Promise<SliceWrites> {
  const { tracker, writer } = ports;
  let failed: SliceWrites | undefined;
  const failure = (what: string, slice: EndpointSlice, why: string): string =>
    `failed to ${textOf(what, slice)} EndpointSlice for ${ports.owner} ${ownerKey}: ${why}`;
  const each = async (
    what: WriteOperation,
    slices: readonly EndpointSlice[],
    request: (slice: EndpointSlice) => WriteRequest,
  ): Promise<void> => {
    await inParallel(slices, WRITES_AT_ONCE, async (slice) => {
      if (failed) return;
      try {
        const answer = await ports.limited(() => ports.store.write(request(slice)));
        if (answer.ok) {
          note(tracker, slice, answer.object, what);
          ports.made(what);
        } else if (what !== "delete" || answer.status.code !== 404) {
          const why = failure(what, slice, messageOf(answer.status, slice));
          failed ??= isNamespaceTerminating(answer.status) ? { result: "closed" } : { result: refusalOf(answer.status), why };
        }
      } catch (error) {
        failed ??= { result: "silent", why: failure(what, slice, String(error)) };
      }
    });
  };
  await each("create", create, (slice) => createRequest(slice, writer));
  if (!failed) await each("update", update, (slice) => updateRequest(slice, writer));
  if (!failed) await each("delete", remove, deleteRequest);
  return failed ?? { result: "done" };
}

function note(tracker: SliceTracker, slice: EndpointSlice, text: string, what: string): void {
  if (what === "delete") tracker.deleted(slice);
  else {
    const written = readObject<EndpointSlice>(text);
    if (written) tracker.written(written);
  }
}

/** A create that is tried again gets another name: its refusal is told as one, by what the names are made of. */
function messageOf({ message = "", details }: Status, { metadata }: EndpointSlice): string {
  const { name, generateName } = metadata ?? {};
  if (name || !generateName || !details?.name) return message;
  return message.replace(`"${details.name}"`, () => `"${generateName}"`);
}

function textOf(what: string, { metadata }: EndpointSlice): string {
  return what === "create" ? what : `${what} ${metadata?.name ?? ""}`;
}
