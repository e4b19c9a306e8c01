/**
 * PUT of a RangeAllocation of another cluster: each bit is compared with the holder of its address here.
 *
 * | set there | row here | object here | then                                                                                           |
 * |-----------|----------|-------------|------------------------------------------------------------------------------------------------|
 * | yes       | yes      |             | nothing to do                                                                                   |
 * | yes       | no       | yes         | `Repairing`: repair is asked to look at everything, and takes the address for its object       |
 * | yes       | no       | no          | `Unexplained`: told, and nothing is taken                                                      |
 * | no        | yes      |             | `Missing`: told                                                                                |
 *
 * A bit alone takes nothing: it names no holder, so nothing would ever release the address. Upstream's repair calls such a bit a leak and frees it in
 * its third pass. A dry run starts no repair.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { ipAddressesStore, repairStub, servicesStore } from "../../../durable-objects/peers/peers";
import { err, ok, type Result } from "../../core/base/result";
import { clusterIPTextsOf } from "../../api/registry/services/held-by-service";
import { readClusterIP } from "../../addresses/repair/rules";
import { type RangeAllocation, readRangeAllocation } from "../../tools/import/range-allocation";
import type { IPAddress, Service } from "../../api/meta/kubernetes";
import { badRequest, conflict, type Status, succeeded } from "../../api/meta/status";
import { formatAddress } from "../../core/net/address";
import { type FedPage, pagesOf } from "../../api/rpc/object-feed";
import { storedPrefix } from "../../addresses/topology/stored-prefix";
import { readJsonObject } from "../http/read/read-json";
import { configOf } from "../routing/config-guard";
import { parseWriteOptions } from "../http/read/write-options";
import { call } from "../routing/call";
import { urlOf } from "../http/read/request-url";
import { statusResponse } from "../http/answer/respond";

const RESOURCE = { group: "", resource: "serviceipallocations", kind: "RangeAllocation" };
const DIFFERENCES_TOLD_MAX = 1_000;
/** Objects of one call to a store. */
const PAGE = 500;

/** The RangeAllocation that this cluster has under the name of the request. */
export interface Present {
  name: string;
  range: string;
  /** numbers of the bits that are set */
  taken: ReadonlySet<number>;
}

interface Cause {
  reason: "Unexplained" | "Repairing" | "Missing";
  message: string;
  /** the address */
  field: string;
}

/** Answers a Status of success that names the addresses that differ, up to a bound; 409 for another range, 400 for an invalid document. */
export async function importResponse(env: Env, cluster: string, request: Request, { name, range, taken }: Present): Promise<Response> {
  const options = parseWriteOptions("UpdateOptions", urlOf(request).query, { userAgent: "", group: "", version: "v1" });
  if (!options.ok) return statusResponse(options.error);
  const brought = await readBrought(env, request);
  if (!brought.ok) return statusResponse(brought.error);
  if (brought.value.range !== range) {
    return statusResponse(conflict(RESOURCE, name, "the provided range does not match the current range"));
  }
  const theirs = readRangeAllocation(brought.value);
  if (!theirs.ok) return statusResponse(badRequest(theirs.error));
  const prefix = storedPrefix(range);
  const named = new Set(theirs.value.kind === "addresses" ? theirs.value.addresses : []);
  const held = new Set([...taken].sort((a, b) => a - b).map((bit) => formatAddress(prefix.family, prefix.base + 1n + BigInt(bit))));
  const unheld = [...named].filter((address) => !held.has(address));
  const objects = await objectsWith(env, cluster, unheld);
  if (!objects.ok) return statusResponse(objects.error);
  const { dryRun } = options.value;
  if (objects.value.size > 0 && !dryRun) {
    const asked = await call(() => repairStub(env, cluster).sweep(), { what: "repair.sweep", repeatable: true });
    if (!asked.ok) return statusResponse(asked.error);
  }
  return statusResponse(statusOf({ name, named, held, unheld, objects: objects.value, dryRun }));
}

interface RangeImport {
  name: string;
  named: ReadonlySet<string>;
  held: ReadonlySet<string>;
  /** of those that are named */
  unheld: readonly string[];
  /** address -> the object here that has it, though the owner has no row */
  objects: ReadonlyMap<string, string>;
  dryRun: boolean;
}

function statusOf({ name, named, held, unheld, objects, dryRun }: RangeImport): Status {
  const unexplained = unheld.filter((address) => !objects.has(address));
  const missing = [...held].filter((address) => !named.has(address));
  const causes: Cause[] = [
    ...[...objects].map(([field, object]): Cause => ({
      reason: "Repairing",
      message: `taken there, and ${object} has no row of it here`,
      field,
    })),
    ...unexplained.map((field): Cause => ({ reason: "Unexplained", message: "bit set there, and no object has the address here", field })),
    ...missing.map((field): Cause => ({ reason: "Missing", message: "held here, and free there", field })),
  ];
  const counts = `${named.size - unheld.length} held, ${objects.size} repairing, ${unexplained.length} unexplained, ${missing.length} missing`;
  const details = { name, kind: RESOURCE.resource, causes: causes.slice(0, DIFFERENCES_TOLD_MAX) };
  return succeeded(200, `${dryRun ? "compared, nothing was changed" : "imported"}: ${counts}`, details);
}

/** Which of the addresses (canonical text) a Service or an IPAddress here has, with its label. */
async function objectsWith(env: Env, cluster: string, addresses: readonly string[]): Promise<Result<Map<string, string>, Status>> {
  const found = new Map<string, string>();
  if (addresses.length === 0) return ok(found);
  for (let at = 0; at < addresses.length; at += PAGE) {
    const keys = addresses.slice(at, at + PAGE).map((name) => ({ namespace: "", name }));
    const page = await call(() => ipAddressesStore(env, cluster).objectsNamed(keys), {
      what: "ipaddresses.objectsNamed",
      repeatable: true,
    });
    if (!page.ok) return page;
    for (const text of page.value) {
      const { metadata } = text === null ? {} : (JSON.parse(text) as IPAddress);
      if (metadata?.name) found.set(metadata.name, `IPAddress ${metadata.name}`);
    }
  }
  const wanted = new Set(addresses);
  let refusal: Status | undefined;
  const read = async (after: string): Promise<Pick<FedPage, "objects" | "next">> => {
    const page = await call(() => servicesStore(env, cluster).objectsAfter(after, PAGE), {
      what: "services.objectsAfter",
      repeatable: true,
    });
    if (page.ok) return page.value;
    refusal = page.error;
    return { objects: [], next: "" };
  };
  for await (const { objects } of pagesOf(read)) for (const text of objects) noteService(JSON.parse(text) as Service, wanted, found);
  return refusal ? err(refusal) : ok(found);
}

/** Where both have the address, the Service is named. */
function noteService(service: Service, wanted: ReadonlySet<string>, found: Map<string, string>): void {
  const { namespace = "", name = "" } = service.metadata ?? {};
  for (const text of clusterIPTextsOf(service)) {
    const address = readClusterIP(text)?.address ?? "";
    if (wanted.has(address)) found.set(address, `Service ${namespace}/${name}`);
  }
}

async function readBrought(env: Env, request: Request): Promise<Result<RangeAllocation, Status>> {
  const config = configOf(env);
  if (!config.ok) return config;
  const body = await readJsonObject(request, config.value, "RangeAllocation");
  if (!body.ok) return body;
  const { kind, range, data } = body.value ?? {};
  const isWhole =
    kind === "RangeAllocation" && typeof range === "string" && (data === undefined || data === null || typeof data === "string");
  return isWhole ? ok({ range, data: typeof data === "string" ? data : "" }) : err(badRequest("the body is no RangeAllocation"));
}
