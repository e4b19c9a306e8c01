import { expect, it } from "vitest";
import { affectedServices } from "../../../../src/endpoints/sources/affected-services";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { aPod, aService, type PodOptions } from "../../../support/worlds/slice-world";

const services = [
  aService({ selector: { app: "a" } }, { name: "a" }),
  aService({ selector: { app: "b" } }, { name: "b" }),
  aService({ selector: { tier: "web" } }, { name: "web" }),
  aService({ selector: undefined }, { name: "none" }),
  aService({ selector: { app: "a" } }, { name: "elsewhere", namespace: "other" }),
];

const A = { labels: { app: "a", tier: "web" } };
const B = { labels: { app: "b", tier: "web" } };

it.each<[string, PodOptions | undefined, PodOptions | undefined, string[]]>([
  ["nothing", A, A, []],
  ["a new Pod", undefined, A, ["a", "web"]],
  ["a Pod goes", A, undefined, ["a", "web"]],
  ["a Pod that nobody selects", undefined, { labels: {} }, []],
  ["readiness", A, { ...A, ready: false }, ["a", "web"]],
  ["the time of readiness", A, { ...A, readyAt: "2026-01-01T00:00:00Z" }, ["a", "web"]],
  ["deletion begins", A, { ...A, terminating: true }, ["a", "web"]],
  ["addresses", A, { ...A, ips: ["10.0.0.2"] }, ["a", "web"]],
  ["the phase", A, { ...A, phase: "Failed" }, ["a", "web"]],
  ["the host name", A, { ...A, hostname: "h", subdomain: "a" }, ["a", "web"]],
  ["the node", A, { ...A, nodeName: "n2" }, ["a", "web"]],
  ["labels alone: those that select it now or did, not both", A, B, ["a", "b"]],
  ["labels and readiness: all that select it now or did", A, { ...B, ready: false }, ["a", "b", "web"]],
  ["a label that no selector names", A, { labels: { ...A.labels, extra: "x" } }, []],
])("%s changes: the Services of the row", (_, before, after, want) => {
  const [old, now] = [before, after].map((options) => options && podFacts(aPod(options)));
  expect(affectedServices(old, now, services).map(({ metadata }) => metadata?.name)).toEqual(want);
});
