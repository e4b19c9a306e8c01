/**
 * The events about Services' node ports. The texts are upstream's (pkg/registry/core/service/portallocator/controller/repair.go). Its "full" cannot
 * happen: a Service's number is taken again by name.
 */
import type { NodePortFinding } from "../rpc/repaired-node-ports";
import { NODE_PORT_MAX, NODE_PORT_MIN } from "../../core/net/node-port-range";
import type { RepairEvent } from "./repair-events";

export function nodePortEvent({ port, kind }: NodePortFinding): RepairEvent {
  const event = (reason: string, note: string): RepairEvent => ({ reason, action: "PortAllocation", note });
  switch (kind) {
    case "repair":
      return event("PortNotAllocated", `Port ${port} is not allocated; repairing`);
    case "duplicate":
      return event("PortAlreadyAllocated", `Port ${port} was assigned to multiple services; please recreate service`);
    case "outOfRange":
      return event(
        "PortOutOfRange",
        `Port ${port} is not within the port range ${NODE_PORT_MIN}-${NODE_PORT_MAX}; please recreate service`,
      );
    case "unknown":
      return event("UnknownError", `Unable to allocate port ${port} due to an unknown error`);
  }
}
