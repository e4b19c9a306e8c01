/**
 * The events about Services' addresses and IPAddresses. The texts are upstream's (pkg/registry/core/service/ipallocator/controller/repairip.go).
 */
import type { EventReport } from "../../api/events/event-recorder";
import type { IPAddress, Service } from "../../api/meta/kubernetes";
import type { ClusterIP, ServiceFinding, WrongAddressKind } from "./rules";

export type RepairEvent = Pick<EventReport, "reason" | "action" | "note">;

/** The event about a Service's address; undefined = none: as upstream, wrong labels are put right without an event. */
export function serviceEvent(finding: ServiceFinding | "unknown", service: Service, ip: ClusterIP | undefined): RepairEvent | undefined {
  const { namespace = "", name = "" } = service.metadata ?? {};
  const shown = `[${ip?.family ?? ""}]: ${ip?.address ?? ""}`;
  const allocation = (reason: string, note: string): RepairEvent => ({ reason, action: "ClusterIPAllocation", note });
  switch (finding) {
    case "invalid":
      return {
        reason: "ClusterIPNotValid",
        action: "ClusterIPValidation",
        note: "Cluster IP <nil> is not a valid IP; please recreate Service",
      };
    case "outOfRange":
      return allocation("ClusterIPOutOfRange", `Cluster IP ${shown} is not within any configured Service CIDR; please recreate service`);
    case "missing":
      return allocation("ClusterIPNotAllocated", `Cluster IP ${shown} is not allocated; repairing`);
    case "wrongReference":
      return allocation(
        "ClusterIPNotAllocated",
        `the ClusterIP ${shown} for Service ${namespace}/${name} has a wrong reference; repairing`,
      );
    case "duplicate":
      // Upstream prints no space after the bracket here.
      return allocation(
        "ClusterIPAlreadyAllocated",
        `Cluster IP ${shown.replace(" ", "")} was assigned to multiple services; please recreate service`,
      );
    case "unknown":
      return allocation("UnknownError", `Unable to allocate ClusterIP ${shown} due to an unknown error`);
    case "wrongLabels":
    case "fine":
      return undefined;
  }
}

/** The event about an IPAddress that goes, or (`unknown`) whose Service could not be read. */
export function addressEvent(finding: WrongAddressKind | "unknown", object: IPAddress): RepairEvent {
  const { name = "" } = object.metadata ?? {};
  const parent = object.spec?.parentRef;
  const { group = "", resource = "", namespace = "", name: parentName = "" } = parent ?? {};
  const event = (reason: string, note: string): RepairEvent => ({ reason, action: "IPAddressAllocation", note });
  switch (finding) {
    case "notReferencing":
      return event(
        "IPAddressNotAllocated",
        `IPAddress ${name} appears to have been modified, not referencing a Service ` +
          `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${parentName},}: cleaning up`,
      );
    case "leaked":
      return event(
        "IPAddressNotAllocated",
        `IPAddress: ${name} for Service ${namespace}/${parentName} appears to have leaked: cleaning up`,
      );
    case "wrongReference":
      return event(
        "IPAddressWrongReference",
        `IPAddress: ${name} for Service ${namespace}/${parentName} has a wrong reference; cleaning up`,
      );
    case "unknown":
      // Upstream prints the whole object in place of its name.
      return event("UnknownError", `Unable to get parent Service for IPAddress ${name} due to an unknown error`);
  }
}
