/**
 * The events about Services' addresses while MultiCIDRServiceAllocator is off. The texts are those of upstream's repair of the old allocator
 * (pkg/registry/core/service/ipallocator/controller/repair.go). Its "full" cannot happen: a Service's address is taken again by name.
 */
import type { Service } from "../../api/meta/kubernetes";
import { formatPrefix, type Prefix } from "../../core/net/prefix";
import { type RepairEvent, serviceEvent } from "./repair-events";
import type { ClusterIP, ServiceFinding } from "./rules";

/** Whether the cluster is no longer configured for the address's family. */
export function isFamilyGone(finding: ServiceFinding | "unknown", ip: ClusterIP | undefined, ranges: readonly Prefix[]): boolean {
  return finding === "outOfRange" && ip !== undefined && !ranges.some(({ family }) => family === ip.family);
}

/** The event about a finding; undefined = none. `ranges`: the configured ones. */
export function legacyServiceEvent(
  finding: ServiceFinding | "unknown",
  { service, ip, ranges }: { service: Service; ip: ClusterIP | undefined; ranges: readonly Prefix[] },
): RepairEvent | undefined {
  const { address = "", family = "" } = ip ?? {};
  const shown = `[${family}]:${address}`;
  const allocation = (reason: string, note: string): RepairEvent => ({ reason, action: "ClusterIPAllocation", note });
  const notValid = (note: string): RepairEvent => ({ reason: "ClusterIPNotValid", action: "ClusterIPValidation", note });
  if (isFamilyGone(finding, ip, ranges)) {
    return notValid(`Cluster IP ${address}(${family}) is of ip family that is no longer configured on cluster; please recreate service`);
  }
  switch (finding) {
    case "invalid":
      return notValid("Cluster IP <nil> is not a valid IP; please recreate service");
    case "outOfRange": {
      const range = ranges.find((prefix) => prefix.family === family);
      const cidr = range ? formatPrefix(range) : "";
      return allocation("ClusterIPOutOfRange", `Cluster IP ${shown} is not within the service CIDR ${cidr}; please recreate service`);
    }
    case "missing":
      return allocation("ClusterIPNotAllocated", `Cluster IP ${shown} is not allocated; repairing`);
    case "unknown":
      return allocation("UnknownError", `Unable to allocate cluster IP ${shown} due to an unknown error`);
    case "duplicate":
    case "wrongReference":
    case "wrongLabels":
    case "fine":
      return serviceEvent(finding, service, ip);
  }
}
