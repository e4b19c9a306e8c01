/** What is backed up, and in which order it is read and restored. */
import type { BackupSection, BackupType } from "./format";

/** Events tell of the last hour of another cluster, and their objects by uids that will be others. */
const LEFT_OUT = "events";

/**
 * What others need comes first: namespaces hold objects, ServiceCIDRs give addresses, IPAddresses of others than Services take theirs before any
 * Service does; of what is left, owners come before what they own wherever that is known. Types that are not named come last, in the file's order.
 */
const RESTORED_FIRST = ["namespaces", "servicecidrs", "ipaddresses", "nodes", "services", "pods", "endpoints", "endpointslices", "leases"];

export function isBackedUp({ resource }: Pick<BackupType, "resource">): boolean {
  return resource !== LEFT_OUT;
}

/** The order of reading is the other way round: of what is made while it goes on, nothing lacks what it needs. */
export function inReadingOrder(types: readonly BackupType[]): BackupType[] {
  return types.toSorted((a, b) => rankOf(b) - rankOf(a));
}

export function inRestoreOrder(sections: readonly BackupSection[]): BackupSection[] {
  return sections.toSorted((a, b) => rankOf(a.type) - rankOf(b.type));
}

/** `services`, `endpointslices.discovery.k8s.io` */
export function typeName({ group, resource }: Pick<BackupType, "group" | "resource">): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function rankOf({ resource }: BackupType): number {
  const rank = RESTORED_FIRST.indexOf(resource);
  return rank < 0 ? RESTORED_FIRST.length : rank;
}
