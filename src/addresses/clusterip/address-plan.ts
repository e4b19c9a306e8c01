/**
 * What a change of a Service means for its ClusterIPs, as data: which addresses to take before the commit, which to keep, and which to release after
 * it. No allocator is asked here, and the services store makes the effects.
 *
 * | change                          | take                      | release                |
 * |---------------------------------|---------------------------|------------------------|
 * | create                          | one per family            |                        |
 * | ExternalName -> a type with IP  | one per family            |                        |
 * | a type with IP -> ExternalName  |                           | all                    |
 * | one family -> two               | the second                |                        |
 * | two families -> one             |                           | the second             |
 * | delete                          |                           | all                    |
 * | headless, any of these          |                           |                        |
 *
 * Source: upstream pkg/registry/core/service/storage/{storage,alloc}.go. Node ports: node-port-plan.ts.
 */
import { assert } from "../../core/base/assert";
import { semanticEqual } from "../../api/meta/equality";
import type { FieldError } from "../../api/meta/field-errors";
import type { Service } from "../../api/meta/kubernetes";
import { canonicalAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { withReadDefaults } from "../../api/registry/services/defaults";
import { initFamilies } from "../../api/registry/services/families";
import { clusterIPTextsOf } from "../../api/registry/services/held-by-service";
import { isHeadless, listOf, needsClusterIP, type ServiceSpec, specOf } from "../../api/registry/services/predicates";

/** One address that the change needs and does not have yet. */
export interface Take {
  /** place in clusterIPs and ipFamilies */
  index: number;
  family: Family;
  /** "" = any free one, else the canonical form of the one the client named */
  address: string;
}

export type AddressPlan =
  /** `keep` and `release` are canonical texts; `release` only after the change is committed */
  | { ok: true; take: Take[]; keep: string[]; release: string[] }
  /** a 422 with these errors; nothing was decided */
  | { ok: false; errors: FieldError[] };

/**
 * The plan of one change. `after` undefined = delete, `before` undefined = create. The strategy has prepared `after`: clusterIP and clusterIPs agree.
 * Here its families are settled, so use `after` as it then is; doing it again changes nothing. On errors `after` is half done: answer 422 and drop it.
 * `families` are the cluster's, primary first.
 */
export function planClusterIPs(
  { after, before }: { after: Service | undefined; before: Service | undefined },
  families: readonly Family[],
): AddressPlan {
  const held = before ? heldAddresses(before) : [];
  if (after && before && semanticEqual(after.spec, before.spec)) {
    // A status, labels, a deletion that finalizers hold up: no strategy has prepared the spec, and an old version may have stored it.
    after.spec = withReadDefaults(after, families).spec;
    return { ok: true, take: [], keep: held, release: [] };
  }
  const errors = after ? settleFamilies({ after, before }, families) : [];
  if (errors.length > 0) return { ok: false, errors };
  const spec = after && specOf(after);
  if (!spec || !needsClusterIP(spec)) return { ok: true, take: [], keep: [], release: held };
  const old = before && specOf(before);
  if (!old || !needsClusterIP(old)) return { ok: true, take: missing(spec, 0), keep: [], release: [] };
  if (isHeadless(old)) return { ok: true, take: [], keep: [], release: [] };
  const sizeBefore = held.length;
  const sizeAfter = listOf(spec.ipFamilies).length;
  // a changed primary address is refused by validation: nothing is taken for a request that cannot succeed
  const samePrimary = listOf(spec.clusterIPs)[0] === (listOf(old.clusterIPs)[0] ?? old.clusterIP);
  if (sizeBefore === 1 && sizeAfter === 2 && samePrimary) return { ok: true, take: missing(spec, 1), keep: held, release: [] };
  if (sizeBefore === 2 && sizeAfter === 1) return { ok: true, take: [], keep: held.slice(0, 1), release: held.slice(1) };
  return { ok: true, take: [], keep: held, release: [] };
}

/** What upstream does before it allocates, less what the strategy has done. */
function settleFamilies({ after, before }: { after: Service; before: Service | undefined }, families: readonly Family[]): FieldError[] {
  return initFamilies({ after, before: before && withReadDefaults(before, families) }, families);
}

/**
 * Writes what was taken into clusterIPs and clusterIP. An address that the client named stays spelled as it was sent. Every take of the
 * plan must be among `taken`, in any order.
 */
export function applyTaken(after: Service, taken: readonly { index: number; address: string }[]): void {
  if (taken.length === 0) return;
  const spec = after.spec;
  assert(spec, "applyTaken: the Service was prepared and has a spec");
  const addresses = listOf(spec.clusterIPs).slice();
  for (const { index, address } of taken) {
    while (addresses.length <= index) addresses.push("");
    if (!addresses[index]) addresses[index] = address;
  }
  assert(!addresses.includes(""), "applyTaken: an address of the plan is missing");
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0];
}

/** clusterIPs as far as the client named them, "" for each address that the server chooses: what refusals print. */
export function requestedClusterIPs(after: Service): string[] {
  const spec = specOf(after);
  const addresses = listOf(spec.clusterIPs).slice();
  if (needsClusterIP(spec) && !isHeadless(spec)) while (addresses.length < listOf(spec.ipFamilies).length) addresses.push("");
  return addresses;
}

/** What a dry run answers for a dynamic address: it takes none, and upstream shows the network address of the range. */
export function dryRunAddress(prefixText: string): string {
  const slash = prefixText.indexOf("/");
  return slash < 0 ? prefixText : prefixText.slice(0, slash);
}

/** The addresses that this (stored) Service holds, canonical, primary first. */
export function heldAddresses(service: Service): string[] {
  return clusterIPTextsOf(service).map(canonicalAddress);
}

/** Whether the stored Service (JSON text; undefined = there is none) holds the address. One that cannot be read keeps what it may hold. */
export function isHeldByStored(stored: string | undefined, address: string): boolean {
  if (stored === undefined) return false;
  try {
    return heldAddresses(JSON.parse(stored) as Service).includes(address);
  } catch {
    return true;
  }
}

function missing(spec: ServiceSpec, from: number): Take[] {
  if (isHeadless(spec)) return [];
  const take: Take[] = [];
  const wanted = listOf(spec.ipFamilies);
  for (let index = from; index < wanted.length; index++) {
    const named = listOf(spec.clusterIPs)[index] ?? "";
    take.push({ index, family: wanted[index] === "IPv6" ? "IPv6" : "IPv4", address: named && canonicalAddress(named) });
  }
  return take;
}
