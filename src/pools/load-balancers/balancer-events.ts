/** The Events about addresses of Services. Reasons and texts as MetalLB's controller has them, where it has one. */
import { type EventReport, referenceTo } from "../../api/events/event-recorder";
import type { Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { servicesDefinition } from "../../api/registry/services/definition";

/** Who reports. */
export const BALANCER_REPORTER = "load-balancer-pools";

function report(service: Service, type: EventReport["type"], reason: string, note: string): EventReport {
  return { regarding: referenceTo(servicesDefinition, service), type, reason, action: "AllocateAddress", note };
}

/** The Service waits. */
export function allocationFailed(service: Service, why: string): EventReport {
  return report(service, "Warning", "AllocationFailed", `Failed to allocate IP for ${JSON.stringify(keyOf(service))}: ${why}`);
}

/** What the Service asks for cannot be read, or contradicts itself. */
export function wishUnreadable(service: Service, problem: string): EventReport {
  return report(service, "Warning", "LoadBalancerFailed", problem);
}

/** The Service has waited. */
export function addressAssigned(service: Service, addresses: readonly string[]): EventReport {
  return report(service, "Normal", "IPAllocated", `Assigned IP ${JSON.stringify(addresses)}`);
}

/** What the Service gave back goes to one that has waited. */
export function addressPassedOn(service: Service, address: string, to: Service): EventReport {
  const note = `IP ${JSON.stringify([address])} was given back, and goes to ${JSON.stringify(keyOf(to))}, which waited for one`;
  return report(service, "Normal", "ClearAssignment", note);
}

/** The address is somebody else's: the row of the Service was lost, and the address given out again. */
export function addressLost(service: Service, address: string, why: string): EventReport {
  return report(service, "Warning", "LoadBalancerFailed", `IP ${JSON.stringify([address])} is not held for the Service any more: ${why}`);
}
