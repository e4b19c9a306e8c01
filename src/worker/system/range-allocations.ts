/**
 * The old allocator's RangeAllocations, served with the gate DisableAllocatorDualWrite off:
 *
 *   GET  /admin/rangeallocations/serviceips            the first configured range; secondaryserviceips: the second
 *   PUT  /admin/rangeallocations/serviceips            imports one from elsewhere (range-allocation-import.ts)
 *
 * Nothing is stored. Each answer is made of the owners' rows at that time, so no stale bit can block an address.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { coordinator, owner } from "../../../durable-objects/peers/peers";
import { err, ok, type Result } from "../../core/base/result";
import type { Config } from "../../core/config/config";
import { bitsOf, writeRangeAllocation } from "../../tools/import/range-allocation";
import { methodNotAllowed, serviceUnavailable, type Status } from "../../api/meta/status";
import { formatAddress } from "../../core/net/address";
import { overlap } from "../../core/net/interval";
import { lastOf, type Prefix } from "../../core/net/prefix";
import type { Topology } from "../../addresses/rpc/topology";
import { isOf } from "../../addresses/topology/route";
import { storedPrefix } from "../../addresses/topology/stored-prefix";
import { configOf } from "../routing/config-guard";
import { RETRY_AFTER_SECONDS } from "../http/limits";
import { call } from "../routing/call";
import { jsonResponse, pageNotFound, statusResponse } from "../http/answer/respond";
import { importResponse } from "./range-allocation-import";

/** Upstream's names, in the order of the configured ranges. */
const NAMES = ["serviceips", "secondaryserviceips"];
/** How often the owners are asked again when the topology changed meanwhile. */
const READINGS_MAX = 5;

export async function rangeAllocationsResponse(env: Env, cluster: string, request: Request, name: string): Promise<Response> {
  const config = configOf(env);
  const range = config.ok ? rangeNamed(config.value, name) : undefined;
  if (range === undefined) return pageNotFound();
  if (request.method !== "GET" && request.method !== "PUT") return statusResponse(methodNotAllowed());
  const taken = await takenBits(env, cluster, storedPrefix(range));
  if (!taken.ok) return statusResponse(taken.error);
  if (request.method === "PUT") return importResponse(env, cluster, request, { name, range, taken: taken.value });
  const object = { kind: "RangeAllocation", apiVersion: "v1", metadata: { name }, ...writeRangeAllocation(range, taken.value) };
  return jsonResponse(200, JSON.stringify(object), "compact");
}

/** undefined = there is no such RangeAllocation: the gate is on, or fewer ranges are configured. */
function rangeNamed({ featureGates, serviceRanges }: Config, name: string): string | undefined {
  return featureGates.DisableAllocatorDualWrite ? undefined : serviceRanges[NAMES.indexOf(name)];
}

/** The bits that are set. No segment moves meanwhile: all owners answer under the configuration of one topology. */
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
  // The first bit stands for this address.
  const first = range.base + 1n;
  const answers = await Promise.all(
    topology.claims.map(async ({ prefix, ownerUid }) => {
      const segment = storedPrefix(prefix);
      const isNear = bits > 0n && segment.family === range.family;
      const part = isNear ? overlap({ first: segment.base, last: lastOf(segment) }, { first, last: range.base + bits }) : undefined;
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
