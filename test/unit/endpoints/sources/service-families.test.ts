import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { hasClusterIP, serviceFamilies } from "../../../../src/endpoints/sources/service-families";
import { aService } from "../../../support/worlds/slice-world";

describe("serviceFamilies", () => {
  it.each<[string, Service["spec"], string[]]>([
    ["one", { ipFamilies: ["IPv6"] }, ["IPv6"]],
    ["both, IPv6 first", { ipFamilies: ["IPv6", "IPv4"] }, ["IPv6", "IPv4"]],
    ["none, an IPv4 cluster IP", { ipFamilies: undefined, clusterIP: "10.96.0.1" }, ["IPv4"]],
    ["none, an IPv6 cluster IP", { ipFamilies: [], clusterIP: "fd00::1" }, ["IPv6"]],
    ["none, headless", { ipFamilies: undefined, clusterIP: "None" }, ["IPv4", "IPv6"]],
    ["none, no cluster IP", { ipFamilies: undefined, clusterIP: "" }, ["IPv4", "IPv6"]],
  ])("a Service that names %s: the families of the row", (_, spec, want) => {
    expect(serviceFamilies(aService(spec))).toEqual(want);
  });
});

describe("hasClusterIP", () => {
  it.each([
    ["10.96.0.1", true],
    ["None", false],
    ["", false],
    [undefined, false],
  ])("cluster IP %s: %s", (clusterIP, want) => {
    expect(hasClusterIP(aService({ clusterIP }))).toBe(want);
  });
});
