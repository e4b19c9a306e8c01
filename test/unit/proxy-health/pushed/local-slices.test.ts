import { describe, expect, it } from "vitest";
import type { EndpointSlice, KubeObject } from "../../../../src/api/meta/kubernetes";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { changesCounts, LocalSlices } from "../../../../src/proxy-health/pushed/local-slices";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];

const on = (address: string, nodeName: string | undefined = "n1", conditions: Endpoint["conditions"] = {}): Endpoint => ({
  addresses: [address],
  conditions,
  ...(nodeName && { nodeName }),
});

function slice(name: string, endpoints: Endpoint[], more: object = {}): EndpointSlice {
  const metadata = { namespace: "default", name, labels: { "kubernetes.io/service-name": "web" } };
  return { metadata, addressType: "IPv4", ports: [{ name: "", port: 80 }], endpoints, ...more } as EndpointSlice;
}

const v6 = (name: string, ...addresses: string[]): EndpointSlice =>
  slice(
    name,
    addresses.map((address) => on(address)),
    { addressType: "IPv6" },
  );

function setUp(rows = new MemoryRowStorage()) {
  const kept = new KeptRows(rows);
  kept.load();
  const changed: string[] = [];
  const checked = new Set(["default/web"]);
  const slices = new LocalSlices({ rows: kept, isChecked: (service) => checked.has(service), changed: (node) => changed.push(node) });
  slices.load();
  const put = (object: EndpointSlice) => slices.reader.put(object as KubeObject, false);
  const counts = (node = "n1") => slices.counts(node, () => true)["default/web"];
  const news = () => changed.splice(0).sort();
  return { rows, kept, checked, slices, put, counts, news };
}

describe("endpoints of a Service on a node", () => {
  it("of two families: count apart, each by its own slices", () => {
    const { put, counts } = setUp();
    put(slice("a", [on("10.1.0.1")]));
    put(v6("b", "fd00::1", "fd00::2"));
    put(v6("c", "fd00::2", "fd00::3"));
    expect([counts(), counts("n2")]).toEqual([{ IPv4: 1, IPv6: 3 }, undefined]);
  });

  it.each<[title: string, object: EndpointSlice, count: number]>([
    ["an address on two ports", slice("a", [on("10.1.0.1")], { ports: [{ name: "a", port: 80 }, { name: "b", port: 81 }] }), 1], // prettier-ignore
    ["an address twice", slice("a", [on("10.1.0.1"), on("10.1.0.1")]), 1],
    ["one that is not ready", slice("a", [on("10.1.0.1"), on("10.1.0.2", "n1", { ready: false })]), 1],
    ["one that terminates and serves", slice("a", [on("10.1.0.1", "n1", { ready: false, serving: true, terminating: true })]), 0],
    [
      "one that terminates and is ready (publishNotReadyAddresses)",
      slice("a", [on("10.1.0.1", "n1", { ready: true, terminating: true })]),
      1,
    ],
    ["one on another node", slice("a", [on("10.1.0.1"), on("10.1.0.2", "n2")]), 1],
    ["one without a node", slice("a", [on("10.1.0.1", "")]), 0],
    ["a second address of an endpoint", slice("a", [{ addresses: ["10.1.0.1", "10.1.0.2"], nodeName: "n1" }]), 1],
    ["an address of the other family", slice("a", [on("fd00::1")]), 0],
    ["a slice without ports", slice("a", [on("10.1.0.1")], { ports: [] }), 0],
    ["a port without a number", slice("a", [on("10.1.0.1")], { ports: [{ name: "" }] }), 0],
    ["a port without a name", slice("a", [on("10.1.0.1")], { ports: [{ port: 80 }] }), 0],
    ["a port of a name that the Service does not have", slice("a", [on("10.1.0.1")], { ports: [{ name: "other", port: 80 }] }), 1],
    ["a slice of names", slice("a", [on("example.com")], { addressType: "FQDN" }), 0],
  ])("%s: %3$i", (_, object, count) => {
    const { put, counts } = setUp();
    put(object);
    expect(counts()?.IPv4 ?? 0).toBe(count);
    expect(changesCounts({ after: object })).toBe(count > 0);
  });

  it("an address in a terminating and in a running endpoint of another slice: counts", () => {
    const { put, counts } = setUp();
    put(slice("a", [on("10.1.0.1", "n1", { ready: false, terminating: true })]));
    put(slice("b", [on("10.1.0.1")]));
    expect(counts()).toEqual({ IPv4: 1 });
  });

  it("a change: names the nodes whose addresses or family changed, and no other", () => {
    const { put, slices, news } = setUp();
    put(slice("a", [on("10.1.0.1", "n1"), on("10.1.0.2", "n2")]));
    expect(news()).toEqual(["n1", "n2"]);
    put(slice("a", [on("10.1.0.2", "n2"), on("10.1.0.1", "n1")]));
    expect(news()).toEqual([]);
    put(slice("a", [on("10.1.0.1", "n1"), on("10.1.0.2", "n2"), on("10.1.0.3", "n2")]));
    expect(news()).toEqual(["n2"]);
    slices.reader.gone("default/a");
    slices.reader.gone("default/a");
    expect(news()).toEqual(["n1", "n2"]);
  });

  it("a slice that becomes another Service's, or has no endpoint any more: counts for this one no more", () => {
    const { checked, put, slices, counts, news } = setUp();
    checked.add("default/other");
    put(slice("a", [on("10.1.0.1")]));
    put({
      ...slice("a", [on("10.1.0.1")]),
      metadata: { namespace: "default", name: "a", labels: { "kubernetes.io/service-name": "other" } },
    });
    expect([counts(), slices.counts("n1", () => true), news()]).toEqual([undefined, { "default/other": { IPv4: 1 } }, ["n1", "n1"]]);
    put(slice("a", []));
    expect([slices.counts("n1", () => true), news()]).toEqual([{}, ["n1"]]);
  });

  it("a Service without a check: its slices are not kept, and not parsed; one that is not told: does not count", () => {
    const { checked, put, slices, counts, news } = setUp();
    const fed = (object: EndpointSlice) => ({ key: "default/a", text: JSON.stringify(object), revision: 1, isDeleted: false });
    const object = slice("a", [on("10.1.0.1")]);
    expect(slices.reader.passesOver?.(fed(object))).toBe(false);
    checked.clear();
    expect(slices.reader.passesOver?.(fed(object))).toBe(true);
    expect(slices.reader.passesOver?.(fed({ ...object, metadata: { namespace: "default", name: "a" } }))).toBe(true);
    put(object);
    expect([counts(), news()]).toEqual([undefined, []]);
    checked.add("default/web");
    put(object);
    expect(slices.counts("n1", () => false)).toEqual({});
    checked.clear();
    // What is kept has to hear of its end.
    expect(slices.reader.passesOver?.(fed(object))).toBe(false);
  });

  it("a Service whose check ended: its slices of both families are forgotten, those of others stay", () => {
    const { checked, put, slices, counts } = setUp();
    checked.add("default/other");
    put(slice("a", [on("10.1.0.1")]));
    put(v6("b", "fd00::1"));
    put({
      ...slice("c", [on("10.1.0.9", "n2")]),
      metadata: { namespace: "default", name: "c", labels: { "kubernetes.io/service-name": "other" } },
    });
    expect([...slices.nodesOf("default/web")]).toEqual(["n1"]);
    slices.drop("default/web");
    expect([counts(), [...slices.nodesOf("default/web")], [...slices.reader.keys()]]).toEqual([undefined, [], ["default/c"]]);
  });

  it("after a start: counts are those that were saved", () => {
    const { rows, kept, put } = setUp();
    put(slice("a", [on("10.1.0.1"), on("10.1.0.2", "n2")]));
    put(v6("b", "fd00::1"));
    kept.save();
    const later = setUp(rows);
    expect([later.counts(), later.counts("n2"), later.news()]).toEqual([{ IPv4: 1, IPv6: 1 }, { IPv4: 1 }, []]);
    later.slices.reader.gone("default/b");
    later.kept.save();
    expect(setUp(rows).counts()).toEqual({ IPv4: 1 });
  });
});

describe("change of a slice", () => {
  const before = slice("a", [on("10.1.0.1"), on("10.1.0.2")]);
  it.each<[title: string, after: EndpointSlice | undefined, changes: boolean]>([
    ["another port number", slice("a", [on("10.1.0.1"), on("10.1.0.2")], { ports: [{ name: "", port: 81 }] }), false],
    ["the order of endpoints", slice("a", [on("10.1.0.2"), on("10.1.0.1")]), false],
    ["a zone", slice("a", [{ ...on("10.1.0.1"), zone: "z" }, on("10.1.0.2")]), false],
    ["an endpoint that is not ready any more", slice("a", [on("10.1.0.1"), on("10.1.0.2", "n1", { ready: false })]), true],
    ["the last port", slice("a", [on("10.1.0.1"), on("10.1.0.2")], { ports: [] }), true],
    ["its end", undefined, true],
  ])("%s: changes counts: %3$s", (_, after, changes) => {
    expect(changesCounts({ before, ...(after && { after }) })).toBe(changes);
  });
});
