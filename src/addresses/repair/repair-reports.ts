/** What repair reports: events, counts by upstream's labels, and log lines. */
import { referenceTo } from "../../api/events/event-recorder";
import type { IPAddress, Service } from "../../api/meta/kubernetes";
import { ipAddressesDefinition } from "../../api/registry/ip-addresses/definition";
import { servicesDefinition } from "../../api/registry/services/definition";
import { isFamilyGone, legacyServiceEvent } from "./legacy-events";
import { addressEvent, serviceEvent } from "./repair-events";
import type { RepairPorts } from "./repair-ports";
import type { ClusterIP, ServiceFinding, WrongAddressKind } from "./rules";

/** Characters that the log shows of a text that cannot be read: mostly the object's name. */
const UNREADABLE_SHOWN = 100;

export class RepairReports {
  constructor(private readonly ports: Pick<RepairPorts, "events" | "legacyRanges" | "recorder" | "storage">) {}

  /** A finding about an address of a Service; `unknown`: the address could not be put right, for a reason that is not known. */
  ofService(finding: ServiceFinding | "unknown", service: Service, ip: ClusterIP | undefined): void {
    const { events, legacyRanges: ranges, storage } = this.ports;
    storage.count(ranges && isFamilyGone(finding, ip, ranges) ? "invalid" : labelOf(finding), 1);
    const event = ranges ? legacyServiceEvent(finding, { service, ip, ranges }) : serviceEvent(finding, service, ip);
    if (event) events.report({ ...event, type: "Warning", regarding: referenceTo(servicesDefinition, service) });
  }

  /** An IPAddress that goes; `unknown`: the Service that it names could not be asked for. */
  ofAddress(finding: WrongAddressKind | "unknown", object: IPAddress): void {
    const { events, storage } = this.ports;
    storage.count(finding === "unknown" ? finding : "leak", 1);
    events.report({ ...addressEvent(finding, object), type: "Warning", regarding: referenceTo(ipAddressesDefinition, object) });
  }

  /** Addresses of IPAddress objects that had no row at their owner, and have one again. */
  ofRows(addresses: readonly string[]): void {
    const { recorder, storage } = this.ports;
    storage.count("repair", addresses.length);
    recorder.log("warn", "addresses of IPAddress objects had no row at their owner", { addresses: addresses.join(" ") });
  }

  /** An object that cannot be read. `of`: its name, or its store where only the text is known. */
  ofUnreadable(of: string, text: string): void {
    const { recorder, storage } = this.ports;
    storage.count("", 1);
    recorder.log("error", "an object cannot be read, repair leaves it out", { of, begins: text.slice(0, UNREADABLE_SHOWN) });
  }
}

/** The label of upstream's metric. */
function labelOf(finding: ServiceFinding | "unknown"): string {
  switch (finding) {
    case "invalid":
    case "outOfRange":
    case "duplicate":
    case "unknown":
      return finding;
    default:
      return "repair";
  }
}
