/**
 * The old allocator's RangeAllocations (services-and-addresses §7), served with the gate DisableAllocatorDualWrite off:
 *
 *   GET  /admin/rangeallocations/serviceips            the first configured range; secondaryserviceips: the second
 *   PUT  /admin/rangeallocations/serviceips            compares one from elsewhere with it; changes nothing
 *
 * Nothing is stored: each is made of what the owners have at the time, so it is never older than they are, and no bit of it can keep an address
 * from anybody. For the same reason a bit that is brought along takes nothing: without a holder it would never be released.
 */
import type { Env } from "../../../durable-objects/env";
import { coordinator, owner } from "../../../durable-objects/peers";
import { err, ok, type Result } from "../../base/result";
import type { Config } from "../../config/config";
import { bitsOf, type RangeAllocation, readRangeAllocation, writeRangeAllocation } from "../../import/range-allocation";
import { isJsonObject, type JsonValue } from "../../meta/patch/json-value";
import { badRequest, conflict, methodNotAllowed, serviceUnavailable, type Status } from "../../meta/status";
import { formatAddress } from "../../net/address";
import { lastOf, type Prefix } from "../../net/prefix";
import type { Topology } from "../../rpc/coordinator";
import { isOf } from "../../topology/route";
import { storedPrefix } from "../../topology/stored-prefix";
import { readText } from "../body";
import { configOf } from "../config-guard";
import { RETRY_AFTER_SECONDS } from "../limits";
import { call } from "../peers";
import { splitRequestUrl } from "../request-url";
import { jsonResponse, pageNotFound, statusResponse } from "../respond";

/** Upstream's names, in the order of the configured ranges. */
const NAMES = ["serviceips", "secondaryserviceips"];
const RESOURCE = { group: "", resource: "serviceipallocations", kind: "RangeAllocation" };
/** The topology changed while the owners were asked: asked again this often. */
const READINGS_MAX = 5;
const DIFFERENCES_TOLD_MAX = 1_000;

export async function rangeAllocationsResponse(env: Env, request: Request, name: string): Promise<Response> {
  const config = configOf(env);
  const range = config.ok ? rangeNamed(config.value, name) : undefined;
  if (range === undefined) return pageNotFound();
  if (request.method !== "GET" && request.method !== "PUT") return statusResponse(methodNotAllowed());
  const taken = await takenBits(env, splitRequestUrl(request.url).cluster, storedPrefix(range));
  if (!taken.ok) return statusResponse(taken.error);
  if (request.method === "PUT") return compared(request, { name, range, taken: taken.value });
  const object = { kind: "RangeAllocation", apiVersion: "v1", metadata: { name }, ...writeRangeAllocation(range, taken.value) };
  return jsonResponse(200, JSON.stringify(object), "compact");
}

/** undefined = there is no such RangeAllocation: the gate is on, or fewer ranges are configured. */
function rangeNamed({ featureGates, serviceRanges }: Config, name: string): string | undefined {
  return featureGates.DisableAllocatorDualWrite ? undefined : serviceRanges[NAMES.indexOf(name)];
}

/** The bits that are set, of one moment as far as moving segments go: all owners answer under the configuration that the topology is about. */
async function takenBits(env: Env, cluster: string, range: Prefix): Promise<Result<Set<number>, Status>> {
  for (let reading = 0; reading < READINGS_MAX; reading++) {
    const topology = await call(() => coordinator(env, cluster).topology(), { what: "coordinator.topology", repeatable: true });
    if (!topology.ok) return topology;
    const taken = await takenUnder(env, cluster, { topology: topology.value, range });
    if (!taken.ok) return taken;
    if (taken.value) return ok(taken.value);
  }
  return err(serviceUnavailable("the ranges are being changed, try again later", RETRY_AFTER_SECONDS));
}

async function takenUnder(
  env: Env,
  cluster: string,
  { topology, range }: { topology: Topology; range: Prefix },
): Promise<Result<Set<number> | undefined, Status>> {
  const bits = bitsOf(range);
  const first = range.base + 1n;
  const answers = await Promise.all(
    topology.claims.map(async ({ prefix, ownerUid }) => {
      const part = bits > 0n ? partOf(storedPrefix(prefix), { family: range.family, first, last: range.base + bits }) : undefined;
      if (!part) return ok({ from: 0, offsets: new Uint32Array(0), isCurrent: true });
      const interval = { first: formatAddress(range.family, part.first), last: formatAddress(range.family, part.last) };
      const answer = await call(() => owner(env, cluster, ownerUid).takenIn(interval), { what: "owner.takenIn", repeatable: true });
      if (!answer.ok) return answer;
      const { epoch, offsets } = answer.value;
      return ok({ from: Number(part.first - first), offsets, isCurrent: isOf(topology, ownerUid, epoch) });
    }),
  );
  const taken = new Set<number>();
  for (const answer of answers) {
    if (!answer.ok) return answer;
    if (!answer.value.isCurrent) return ok(undefined);
    for (const offset of answer.value.offsets) taken.add(answer.value.from + offset);
  }
  return ok(taken);
}

function partOf(segment: Prefix, within: { family: string; first: bigint; last: bigint }): { first: bigint; last: bigint } | undefined {
  if (segment.family !== within.family) return undefined;
  const first = segment.base > within.first ? segment.base : within.first;
  const last = lastOf(segment) < within.last ? lastOf(segment) : within.last;
  return first <= last ? { first, last } : undefined;
}

/** A Status that names every address on which the two differ. */
async function compared(request: Request, ours: { name: string; range: string; taken: ReadonlySet<number> }): Promise<Response> {
  const { name, range, taken } = ours;
  const brought = await readBrought(request);
  if (!brought.ok) return statusResponse(brought.error);
  if (brought.value.range !== range) {
    return statusResponse(conflict(RESOURCE, name, "the provided range does not match the current range"));
  }
  const theirs = readRangeAllocation(brought.value);
  if (!theirs.ok) return statusResponse(badRequest(theirs.error));
  const prefix = storedPrefix(range);
  const named = new Set(theirs.value.kind === "addresses" ? theirs.value.addresses : []);
  const held = new Set([...taken].sort((a, b) => a - b).map((bit) => formatAddress(prefix.family, prefix.base + 1n + BigInt(bit))));
  const unexplained = [...named].filter((address) => !held.has(address));
  const missing = [...held].filter((address) => !named.has(address));
  const causes = [
    ...unexplained.map((field) => ({ reason: "Unexplained", message: "taken there, and held by nobody here", field })),
    ...missing.map((field) => ({ reason: "Missing", message: "held here, and free there", field })),
  ];
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    message: `compared, nothing was changed: ${unexplained.length} unexplained, ${missing.length} missing`,
    details: { name, kind: RESOURCE.resource, causes: causes.slice(0, DIFFERENCES_TOLD_MAX) },
    code: 200,
  };
  return jsonResponse(200, JSON.stringify(status), "compact");
}

async function readBrought(request: Request): Promise<Result<RangeAllocation, Status>> {
  const text = await readText(request);
  if (!text.ok) return text;
  try {
    const parsed = JSON.parse(text.value) as JsonValue;
    if (!isJsonObject(parsed)) return err(badRequest("the body is no RangeAllocation"));
    const { kind, range, data } = parsed;
    const isWhole =
      kind === "RangeAllocation" && typeof range === "string" && (data === undefined || data === null || typeof data === "string");
    return isWhole ? ok({ range, data: typeof data === "string" ? data : "" }) : err(badRequest("the body is no RangeAllocation"));
  } catch {
    return err(badRequest("the body is no JSON"));
  }
}
