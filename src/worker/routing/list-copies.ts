/** Lists of any version from the copies that stores publish in KV: this isolate's memory of them, and the answers. */
import { EDGE_READ_TIMEOUT_MS } from "../../api/store/state/limits";
import { withTimeout } from "../../core/base/timeout";
import { pageResponse } from "../../../durable-objects/answers/page-response";
import type { Env } from "../../../durable-objects/platform/env";
import { storedResource } from "../../api/registry/all";
import { systemClock, systemDigest } from "../../../durable-objects/platform/ports";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { CollectionRequest } from "../../api/rpc/store";
import { listOfCopy } from "../../api/store/list/list-page";
import { StreamedLists } from "../../api/store/list/streamed-lists";
import { EdgeLists } from "../../api/store/list/edge-lists";
import { listCopyKey, mayComeFromCopy, storeName } from "../../api/store/list/list-copy";
import { edgeSource, parseOwnerSource } from "../../api/store/list/list-source";
import { log } from "../http/log";

const lists = new EdgeLists(systemClock, systemDigest);
/** Any number: they share the rows of their copy. */
const streamed = new StreamedLists(systemClock, 0);

/** The answer out of a copy; undefined = the store must answer. `signal`: of the client's request. */
export async function answerOfCopy(
  env: Env,
  cluster: string,
  request: CollectionRequest,
  definition: ResourceDefinition,
  signal: AbortSignal,
): Promise<Response | undefined> {
  if (!mayComeFromCopy(request, definition)) return undefined;
  const name = storeName(cluster, storedResource(definition));
  const copy = await lists.find(name, () => readCopy(env, name));
  if (!copy) return undefined;
  const body = listOfCopy(copy, request, definition, () => systemClock.now());
  if (!body.ok) return undefined;
  if (body.value.rest) body.value.rest.place = streamed.begin();
  return pageResponse(body.value, edgeSource(systemClock.now() - copy.takenAt), signal);
}

/** Notes the source that the store named in its answer (list-source.ts). `askedAt`: when the list or watch was sent, in ms since the epoch. */
export function noteSource(cluster: string, definition: ResourceDefinition, source: string | null, askedAt: number): void {
  const seen = parseOwnerSource(source, askedAt);
  if (seen) lists.note(storeName(cluster, storedResource(definition)), seen);
}

async function readCopy(env: Env, name: string): Promise<ArrayBuffer | null> {
  try {
    return await withTimeout(systemClock, EDGE_READ_TIMEOUT_MS, env.DIRECTORY.get(listCopyKey(name), "arrayBuffer"));
  } catch (error) {
    log("warn", "a copy could not be read", { name, error: String(error) });
    return null;
  }
}
