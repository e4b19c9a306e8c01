import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { hasPods, hostnameIn, isEndpoint, selects } from "../../../../src/endpoints/sources/service-pods";
import { aPod, aService, type PodOptions } from "../../../support/worlds/slice-world";

describe("hasPods", () => {
  it.each<[string, Service["spec"], boolean]>([
    ["a selector", {}, true],
    ["no selector", { selector: undefined }, false],
    ["an empty selector", { selector: {} }, false],
    ["ExternalName with a selector", { type: "ExternalName" }, false],
    ["headless", { clusterIP: "None" }, true],
  ])("a Service with %s: as in the row", (_, spec, want) => {
    expect(hasPods(aService(spec))).toBe(want);
  });
});

describe("selects", () => {
  const pod = { namespace: "ns", labels: { app: "a", tier: "web" } };
  it.each<[string, Service, boolean]>([
    ["one label of two", aService(), true],
    ["both labels", aService({ selector: { app: "a", tier: "web" } }), true],
    ["another value", aService({ selector: { app: "b" } }), false],
    ["a label that the Pod lacks", aService({ selector: { app: "a", zone: "" } }), false],
    ["a name of Object.prototype", aService({ selector: { constructor: "a" } }), false],
    ["nothing", aService({ selector: {} }), false],
    ["another namespace", aService({}, { namespace: "other" }), false],
  ])("a selector of %s: as in the row", (_, service, want) => {
    expect(selects(service, pod)).toBe(want);
  });
});

describe("isEndpoint", () => {
  it.each<[string, PodOptions, boolean]>([
    ["running", {}, true],
    ["not ready", { ready: false }, true],
    ["terminating", { terminating: true }, true],
    ["without address", { ips: [] }, false],
    ["with a refused address alone", { ips: ["127.0.0.1"] }, true],
    ["succeeded", { phase: "Succeeded" }, false],
    ["failed", { phase: "Failed" }, false],
  ])("a Pod that is %s: as in the row", (_, options, want) => {
    expect(isEndpoint(podFacts(aPod(options)))).toBe(want);
  });
});

describe("hostnameIn", () => {
  it.each<[string, PodOptions, string | undefined]>([
    ["no host name", { subdomain: "s" }, undefined],
    ["another subdomain", { hostname: "h", subdomain: "t" }, undefined],
    ["the Service's name as subdomain", { hostname: "h", subdomain: "s" }, "h"],
  ])("%s: the host name of the row", (_, options, want) => {
    expect(hostnameIn(aService(), podFacts(aPod(options)))).toBe(want);
  });
});
