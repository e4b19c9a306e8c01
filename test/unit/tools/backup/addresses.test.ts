import { describe, expect, it } from "vitest";
import { contradictions } from "../../../../src/tools/backup/addresses";
import type { IPAddress, Service } from "../../../../src/api/meta/kubernetes";
import { ipAddress, service, serviceCIDR } from "../../../support/worlds/checked-cluster";

const gateway = (address: string): IPAddress => ({
  metadata: { name: address },
  spec: { parentRef: { group: "gateway.networking.k8s.io", resource: "gateways", namespace: "default", name: "edge" } },
});
const byHand = (address: string, name: string): IPAddress => ({ ...(ipAddress(address, name) as IPAddress), metadata: { name: address } });
const web = service("web", "10.96.0.2") as Service;
const range = serviceCIDR("kubernetes", ["10.96.0.0/16"]);

describe("Services and IPAddresses that were read at different moments", () => {
  it.each<[string, Service[], IPAddress[], string[]]>([
    ["agrees", [web], [ipAddress("10.96.0.2", "web") as IPAddress, gateway("10.96.0.9")], []],
    ["a Service that came in between", [web], [], []],
    ["a Service that went in between", [], [ipAddress("10.96.0.2", "web") as IPAddress], []],
    ["an address that went from one Service to the next", [web], [ipAddress("10.96.0.2", "before") as IPAddress], []],
    ["an IPAddress made by hand for its Service", [web], [byHand("10.96.0.2", "web")], []],
    [
      "an address of a Service and of something else",
      [web],
      [gateway("10.96.0.2")],
      ["default/web holds 10.96.0.2, whose IPAddress names gateways default/edge"],
    ],
    [
      "an address of two Services",
      [web, service("zwei", "10.96.0.2") as Service],
      [],
      ["10.96.0.2 is held by default/web and by default/zwei"],
    ],
    ["an address of no range", [service("far", "10.200.0.1") as Service], [], ["no ServiceCIDR covers 10.200.0.1 of default/far"]],
  ])("%s: the contradictions of the row", (_, services, ipAddresses, want) => {
    expect(contradictions(services, ipAddresses, [range])).toEqual(want);
  });
});
