/** Upstream's end-to-end assertions about single resources, on the real server. */
import { expect, it } from "vitest";
import { LeaseSchema } from "../../../src/api/schema/kinds/coordination";
import { encodeProtobuf } from "../../../src/api/schema/protobuf/encode-protobuf";
import { upstreamRow } from "../../conformance/upstream-row";
import { clusterForTests, DUAL_STACK } from "../../support/server/cluster-for-tests";
import { Api, MERGE_PATCH, STRATEGIC_PATCH, brief } from "../../support/clients/api";
import type { Body } from "../../support/clients/api";

const cluster = clusterForTests({ args: DUAL_STACK });
const api = new Api(() => cluster.url);
const NETWORKING = "/apis/networking.k8s.io/v1";
const SERVICES = "/api/v1/namespaces/default/services";

const names = (list: Body) => (list.items ?? []).map(({ metadata }) => metadata?.name ?? "");
const versionOf = (object: Body) => BigInt(object.metadata?.resourceVersion ?? 0);
const patch = (path: string, type: string, body: unknown) => api.must("PATCH", path, { body, headers: { "Content-Type": type } });
const gone = (path: string) => api.until(async () => (await api.get(path)).code === 404, `${path} is gone`);

async function becomesReady(name: string): Promise<void> {
  const status = async () => JSON.stringify((await api.must("GET", `${NETWORKING}/servicecidrs/${name}`)).status ?? {});
  await api.until(async () => /"status":"True"/.test(await status()), `${name} is Ready`);
}

async function serviceCIDROperations(root: string): Promise<void> {
  const found = await api.must("GET", `${root}/servicecidrs/kubernetes`);
  const status = await api.must("GET", `${root}/servicecidrs/kubernetes/status`);
  expect([status.kind, status.apiVersion, status.metadata?.uid]).toEqual([found.kind, found.apiVersion, found.metadata?.uid]);
  const list = await api.must("GET", `${root}/servicecidrs`);
  expect(names(list)).toContain("kubernetes");
  const watch = await api.watch(`${root}/servicecidrs`, { resourceVersion: "0" });
  expect(brief(await watch.take(1))).toEqual(["ADDED kubernetes"]);
  watch.close();
}

async function ipAddressOperations(root: string, label: string): Promise<void> {
  const addresses = ["255.255.255.255", "fe80::42:1dff:fe84:f9e2"];
  const parentRef = { group: "example.com", resource: "widgets", namespace: "foo", name: "bar" };
  const path = (name: string) => `${root}/ipaddresses/${encodeURIComponent(name)}`;
  const query = { labelSelector: `special-label=${label}` };
  for (const name of addresses) {
    const created = await api.must("POST", `${root}/ipaddresses`, {
      body: { metadata: { name, labels: { "special-label": label } }, spec: { parentRef } },
    });
    expect(created).toMatchObject({ metadata: { name }, spec: { parentRef } });
    expect((await api.must("GET", path(name))).metadata?.uid).toBe(created.metadata?.uid);
    const patched = await patch(path(name), MERGE_PATCH, { metadata: { annotations: { patched: "true" } } });
    expect(patched.metadata?.annotations).toEqual({ patched: "true" });
    expect(versionOf(patched)).toBeGreaterThan(versionOf(created));
    const annotations = { patched: "true", updated: "true" };
    const updated = await api.must("PUT", path(name), { body: { ...patched, metadata: { ...patched.metadata, annotations } } });
    expect(updated.metadata?.annotations).toEqual(annotations);
    expect(versionOf(updated)).toBeGreaterThan(versionOf(patched));
  }
  const list = await api.must("GET", `${root}/ipaddresses`, { query });
  expect(names(list)).toEqual(addresses);
  const watch = await api.watch(`${root}/ipaddresses`, { ...query, resourceVersion: list.metadata?.resourceVersion ?? "" });
  await api.must("DELETE", path(addresses[0] ?? ""));
  expect(brief(await watch.take(1))).toEqual([`DELETED ${addresses[0] ?? ""}`]);
  watch.close();
  expect(names(await api.must("GET", `${root}/ipaddresses`, { query }))).toEqual(addresses.slice(1));
  await api.must("DELETE", `${root}/ipaddresses`, { query });
  expect((await api.must("GET", `${root}/ipaddresses`, { query })).items).toEqual([]);
}

upstreamRow("service_cidrs: ServiceCIDR API operations", () => {
  it("ServiceCIDR, v1: every operation answers as upstream", () => serviceCIDROperations(NETWORKING));
});

upstreamRow("service_cidrs: IPAddress API operations", () => {
  it("IPAddress, v1, of a broadcast and a link-local address: every operation answers as upstream", () =>
    ipAddressOperations(NETWORKING, "v1"));
});

upstreamRow('Conformance "should support ServiceCIDR API operations", "should support IPAddress API operations"', () => {
  it("ServiceCIDR, v1beta1: every operation answers as upstream", () => serviceCIDROperations("/apis/networking.k8s.io/v1beta1"));
  it("IPAddress, v1beta1: every operation answers as upstream", () => ipAddressOperations("/apis/networking.k8s.io/v1beta1", "v1beta1"));
});

upstreamRow("service_cidrs: serve on different CIDRs", () => {
  it("a fixed address of a new range: given to the Service", async () => {
    await api.must("POST", `${NETWORKING}/servicecidrs`, { body: { metadata: { name: "extra" }, spec: { cidrs: ["203.0.112.0/24"] } } });
    await becomesReady("extra");
    const body = { metadata: { name: "fixed" }, spec: { clusterIP: "203.0.112.23", ports: [{ port: 80 }] } };
    expect((await api.must("POST", SERVICES, { body })).spec).toMatchObject({ clusterIP: "203.0.112.23", clusterIPs: ["203.0.112.23"] });
  });
});

upstreamRow('e2e "should create Services and serve on different Service CIDRs"', () => {
  it.each([
    ["203.0.113.0/24", "203.0.113.23", "IPv4"],
    ["2001:db8:cb00::/64", "2001:db8:cb00::23", "IPv6"],
  ])("ServiceCIDR %s: a NodePort Service with its address %s, and the IPAddress", async (cidr, clusterIP, family) => {
    const name = family.toLowerCase();
    await api.must("POST", `${NETWORKING}/servicecidrs`, { body: { metadata: { name }, spec: { cidrs: [cidr] } } });
    await becomesReady(name);
    const spec = { type: "NodePort", clusterIP, ipFamilies: [family], ports: [{ port: 80 }] };
    const made = await api.must("POST", SERVICES, { body: { metadata: { name }, spec } });
    expect(made.spec).toMatchObject({ clusterIP, ipFamilies: [family], ports: [{ nodePort: expect.any(Number) as number }] });
    const holder = await api.must("GET", `${NETWORKING}/ipaddresses/${encodeURIComponent(clusterIP)}`);
    expect(holder.spec).toEqual({ parentRef: { resource: "services", namespace: "default", name } });
  });
});

upstreamRow("lease: API should be available", () => {
  it("unusual times and zeros: kept through every way of writing", async () => {
    const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    const spec = (second: number) => ({
      holderIdentity: `holder-${String(second)}`,
      leaseDurationSeconds: 30,
      acquireTime: `0001-01-01T00:00:0${String(second)}.000005Z`,
      renewTime: `0001-01-01T00:00:0${String(second)}.500000Z`,
      leaseTransitions: 0,
    });
    const headers = { "Content-Type": "application/vnd.kubernetes.protobuf" };
    const typeMeta = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    const body = encodeProtobuf({ metadata: { name: "lease" }, spec: spec(2) }, LeaseSchema, typeMeta);
    const created = await api.must("POST", path, { body, headers });
    expect(created.spec).toEqual(spec(2));
    const updated = await api.must("PUT", `${path}/lease`, { body: { ...created, spec: spec(3) } });
    expect(updated.spec).toEqual(spec(3));
    expect((await patch(`${path}/lease`, STRATEGIC_PATCH, { spec: spec(4) })).spec).toEqual(spec(4));
    expect((await api.must("GET", `${path}/lease`)).spec).toEqual(spec(4));
    await api.must("POST", path, { body: { metadata: { name: "other", labels: { deletecollection: "true" } }, spec: spec(5) } });
    expect(names(await api.must("GET", "/apis/coordination.k8s.io/v1/leases"))).toEqual(expect.arrayContaining(["lease", "other"]));
    await api.must("DELETE", path, { query: { labelSelector: "deletecollection=true" } });
    expect(names(await api.must("GET", path))).toEqual(["lease"]);
    await api.must("DELETE", `${path}/lease`);
    expect((await api.get(`${path}/lease`)).body.reason).toBe("NotFound");
  });
});

upstreamRow("endpointslice: API operations", () => {
  it("EndpointSlices, from discovery to deletecollection: every operation answers as upstream", async () => {
    const group = "/apis/discovery.k8s.io";
    expect((await api.must("GET", group))["preferredVersion"]).toMatchObject({ groupVersion: "discovery.k8s.io/v1", version: "v1" });
    expect((await api.must("GET", `${group}/v1`))["resources"]).toEqual([
      expect.objectContaining({ name: "endpointslices", kind: "EndpointSlice" }),
    ]);
    const path = `${group}/v1/namespaces/default/endpointslices`;
    const body = {
      metadata: { generateName: "e2e-example-", labels: { "special-label": "slices" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["1.2.3.4", "5.6.7.8"] }],
    };
    const made = [await api.must("POST", path, { body }), await api.must("POST", path, { body }), await api.must("POST", path, { body })];
    const [first] = names({ items: made });
    expect((await api.must("GET", `${path}/${first ?? ""}`)).metadata?.uid).toBe(made[0]?.metadata?.uid);
    const query = { labelSelector: "special-label=slices" };
    const list = await api.must("GET", path, { query });
    expect([list.items?.length, (await api.must("GET", `${group}/v1/endpointslices`, { query })).items?.length]).toEqual([3, 3]);
    const watch = await api.watch(path, { ...query, resourceVersion: list.metadata?.resourceVersion ?? "" });
    const patched = await patch(`${path}/${first ?? ""}`, MERGE_PATCH, { metadata: { annotations: { patched: "true" } } });
    const annotations = { patched: "true", updated: "true" };
    await api.must("PUT", `${path}/${first ?? ""}`, { body: { ...patched, metadata: { ...patched.metadata, annotations } } });
    const created = await api.must("POST", path, { body });
    const events = await watch.take(3);
    expect(events.map(({ type, object }) => [type, object.metadata?.annotations])).toEqual([
      ["MODIFIED", { patched: "true" }],
      ["MODIFIED", annotations],
      ["ADDED", undefined],
    ]);
    watch.close();
    await api.must("DELETE", `${path}/${created.metadata?.name ?? ""}`);
    expect((await api.must("GET", path, { query })).items?.length).toBe(3);
    await api.must("DELETE", path, { query });
    expect((await api.must("GET", path, { query })).items).toEqual([]);
  });
});

upstreamRow("service: status lifecycle", () => {
  it("status of a LoadBalancer, by patch and update: stored, and watched", async () => {
    const labels = { "test-service-static": "true" };
    const body = { metadata: { name: "lifecycle", labels }, spec: { type: "LoadBalancer", ports: [{ name: "http", port: 80 }] } };
    const created = await api.must("POST", SERVICES, { body });
    const query = { labelSelector: "test-service-static=true", resourceVersion: created.metadata?.resourceVersion ?? "" };
    const watch = await api.watch("/api/v1/services", query);
    const path = `${SERVICES}/lifecycle`;
    expect((await api.must("GET", `${path}/status`)).status).toEqual({ loadBalancer: {} });
    const ingress = [{ ip: "203.0.113.1", ipMode: "VIP" }];
    const patched = await patch(`${path}/status`, MERGE_PATCH, {
      metadata: { annotations: { patchedstatus: "true" } },
      status: { loadBalancer: { ingress: [{ ip: "203.0.113.1" }] } },
    });
    expect(patched).toMatchObject({ metadata: { annotations: { patchedstatus: "true" } }, status: { loadBalancer: { ingress } } });
    const conditions = [
      { type: "StatusUpdate", status: "True", reason: "E2E", message: "Set from e2e test", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ];
    const updated = await api.must("PUT", `${path}/status`, {
      body: { ...patched, status: { ...(patched.status as object), conditions } },
    });
    expect(updated.status).toMatchObject({ loadBalancer: { ingress }, conditions });
    const labelled = await patch(path, STRATEGIC_PATCH, { metadata: { labels: { "test-service": "patched" } } });
    expect([labelled.metadata?.labels, labelled.status]).toEqual([{ ...labels, "test-service": "patched" }, updated.status]);
    await api.must("DELETE", path);
    expect(brief(await watch.take(4)).map((line) => line.split(" ")[0])).toEqual(["MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]);
    watch.close();
  });
});

upstreamRow("service: find from all namespaces; secure default service", () => {
  it("Services of all namespaces: in one list; default/kubernetes: on port 443", async () => {
    await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name: "elsewhere" } } });
    const body = { metadata: { name: "found" }, spec: { ports: [{ port: 80 }] } };
    await api.must("POST", "/api/v1/namespaces/elsewhere/services", { body });
    expect(names(await api.must("GET", "/api/v1/services"))).toEqual(expect.arrayContaining(["found", "kubernetes"]));
    expect((await api.must("GET", `${SERVICES}/kubernetes`)).spec?.["ports"]).toMatchObject([
      { name: "https", port: 443, protocol: "TCP" },
    ]);
  });
});

upstreamRow("service: delete a collection", () => {
  it("deletecollection with a selector: two of three Services go", async () => {
    for (const [name, deletable] of [
      ["one", "true"],
      ["two", "true"],
      ["three", "false"],
    ] as const) {
      const labels = { "e2e-collection": "true", deletable };
      await api.must("POST", SERVICES, { body: { metadata: { name, labels }, spec: { ports: [{ port: 80 }] } } });
    }
    await api.must("DELETE", SERVICES, { query: { labelSelector: "deletable=true" } });
    expect(names(await api.must("GET", SERVICES, { query: { labelSelector: "e2e-collection=true" } }))).toEqual(["three"]);
  });
});

upstreamRow("service: lifecycle of an Endpoint", () => {
  it("core Endpoints, created, updated, patched and deleted: one watch event each", async () => {
    const path = "/api/v1/namespaces/default/endpoints";
    const body = {
      metadata: { name: "testservice", labels: { "test-endpoint-static": "true" } },
      subsets: [{ addresses: [{ ip: "10.0.0.24" }], ports: [{ name: "http", port: 80, protocol: "TCP" }] }],
    };
    const before = (await api.must("GET", path)).metadata?.resourceVersion ?? "";
    const watch = await api.watch(path, { labelSelector: "test-endpoint-static=true", resourceVersion: before });
    const created = await api.must("POST", path, { body });
    const labels = { "test-endpoint-static": "true", "test-service": "updated" };
    await api.must("PUT", `${path}/testservice`, { body: { ...created, metadata: { ...created.metadata, labels } } });
    const subsets = [{ addresses: [{ ip: "10.0.0.25" }], ports: [{ name: "http-test", port: 8080, protocol: "TCP" }] }];
    const patched = await patch(`${path}/testservice`, STRATEGIC_PATCH, { metadata: { labels: { "test-service": "patched" } }, subsets });
    expect(patched).toMatchObject({ metadata: { labels: { ...labels, "test-service": "patched" } }, subsets });
    await api.must("DELETE", path, { query: { labelSelector: "test-endpoint-static=true" } });
    const events = await watch.take(4);
    expect(brief(events).map((line) => line.split(" ")[0])).toEqual(["ADDED", "MODIFIED", "MODIFIED", "DELETED"]);
    watch.close();
  });
});

/** What events.k8s.io takes. */
function strictEvent(name: string): Record<string, unknown> {
  return {
    metadata: { name },
    eventTime: "2026-01-01T00:00:00.000001Z",
    regarding: { kind: "Pod", namespace: "default", name: "regarded" },
    reportingController: "test-controller",
    reportingInstance: "test-node",
    action: "Do",
    reason: "Test",
    type: "Normal",
    note: "first",
  };
}

upstreamRow("events (events.k8s.io): lifecycle", () => {
  it("an event: served under both groups", async () => {
    const there = "/apis/events.k8s.io/v1/namespaces/default/events";
    const core = "/api/v1/namespaces/default/events";
    const body = {
      metadata: { name: "event-test", labels: { "testevent-constant": "true" } },
      eventTime: "2026-01-01T00:00:00.000001Z",
      regarding: { kind: "Pod", namespace: "default", name: "regarded" },
      reportingController: "test-controller",
      reportingInstance: "test-node",
      action: "Do",
      reason: "Test",
      type: "Normal",
      note: "This is event-test",
    };
    const created = await api.must("POST", there, { body });
    expect(created).toMatchObject({ ...body, apiVersion: "events.k8s.io/v1", kind: "Event" });
    expect(await api.must("GET", `${core}/event-test`)).toMatchObject({
      apiVersion: "v1",
      involvedObject: body.regarding,
      reportingComponent: "test-controller",
      message: body.note,
      source: {},
    });
    const selected = async (path: string, fieldSelector: string) => names(await api.must("GET", path, { query: { fieldSelector } }));
    expect(await selected(core, "source=test-controller")).toEqual(["event-test"]);
    expect(await selected(core, "source=other")).toEqual([]);
    expect(await selected(there, "reportingController=test-controller")).toEqual(["event-test"]);
    const series = { count: 2, lastObservedTime: "2026-01-01T00:00:05.000005Z" };
    const patched = await patch(`${there}/event-test`, STRATEGIC_PATCH, { series });
    const { metadata: _before, ...unchanged } = created;
    const { metadata: _after, ...now } = patched;
    expect(now).toEqual({ ...unchanged, series });
    const { resourceVersion: _version, ...metadata } = patched.metadata ?? {};
    const updated = await api.must("PUT", `${there}/event-test`, { body: { ...patched, metadata, series: { ...series, count: 100 } } });
    expect(updated["series"]).toEqual({ ...series, count: 100 });
    await api.must("DELETE", `${there}/event-test`);
    expect((await api.get(`${core}/event-test`)).code).toBe(404);
  });

  it.each(["Deployment:Scaled up", "Größe.17A", "x".repeat(300)])(
    "a core event %s: made, read, patched, listed and deleted by that name",
    async (name) => {
      const core = "/api/v1/namespaces/default/events";
      const event = { metadata: { name }, involvedObject: { kind: "Pod", namespace: "default", name: "regarded" }, reason: "Test" };
      await api.must("POST", core, { body: event });
      const path = `${core}/${encodeURIComponent(name)}`;
      expect((await api.must("GET", path)).metadata?.name).toBe(name);
      expect((await patch(path, STRATEGIC_PATCH, { count: 2 }))["count"]).toBe(2);
      expect(names(await api.must("GET", core, { query: { fieldSelector: `metadata.name=${name}` } }))).toEqual([name]);
      await api.must("DELETE", path);
      expect((await api.get(path)).code).toBe(404);
    },
  );

  it.each<[string, Record<string, unknown>, string]>([
    ["without an eventTime", { eventTime: null }, "eventTime: Required value"],
    ["of a third type", { type: "Odd" }, 'type: Invalid value: "": has invalid value: Odd'],
    ["without a reporter's instance", { reportingInstance: "" }, "reportingInstance: Required value"],
    ["with a long action", { action: "x".repeat(129) }, 'action: Invalid value: "": can have at most 128 characters'],
    ["with a long note", { note: "x".repeat(1025) }, 'message: Invalid value: "": can have at most 1024 characters'],
    [
      "with a series of one",
      { series: { count: 1, lastObservedTime: "2026-01-01T00:00:05.000005Z" } },
      'series.count: Invalid value: "": should be at least 2',
    ],
    ["with an old field", { deprecatedCount: 1 }, 'count: Invalid value: "": needs to be unset'],
    [
      "about an object without a namespace, elsewhere than in default",
      { metadata: { name: "refused", namespace: "kube-public" }, regarding: { kind: "Node", name: "n" } },
      'involvedObject.namespace: Invalid value: "": does not match event.namespace',
    ],
  ])("a create %s: refused, nothing is stored", async (_, changes, why) => {
    const body = { ...strictEvent("refused"), ...changes };
    const namespace = (body.metadata as { namespace?: string }).namespace ?? "default";
    const there = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    const answer = await api.send("POST", there, { body });
    const message = `Event "refused" is invalid: ${why}`;
    expect([answer.code, answer.body.reason, answer.body.message]).toEqual([422, "Invalid", message]);
    expect((await api.get(`${there}/refused`)).code).toBe(404);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["the note", { note: "other" }, 'message: Invalid value: "other": field is immutable'],
    ["the type", { type: "Warning" }, 'type: Invalid value: "Warning": field is immutable'],
    ["the reporter", { reportingController: "other" }, 'reportingController: Invalid value: "other": field is immutable'],
    [
      "the series to one",
      { series: { count: 1, lastObservedTime: "2026-01-01T00:00:05.000005Z" } },
      'series.count: Invalid value: "": should be at least 2',
    ],
  ])("an update and a patch of %s: refused, nothing changes", async (what, changes, why) => {
    const there = "/apis/events.k8s.io/v1/namespaces/default/events";
    const name = `strict-${what.replaceAll(" ", "-")}`;
    const created = await api.must("POST", there, { body: strictEvent(name) });
    const message = `Event "${name}" is invalid: ${why}`;
    for (const answer of [
      await api.send("PUT", `${there}/${name}`, { body: { ...created, ...changes } }),
      await api.patch(`${there}/${name}`, MERGE_PATCH, changes),
    ]) {
      expect([answer.code, answer.body.reason, answer.body.message]).toEqual([422, "Invalid", message]);
    }
    expect(await api.must("GET", `${there}/${name}`)).toEqual(created);
    await api.must("DELETE", `${there}/${name}`);
  });

  it("a patch of a core event's message: changes nothing else", async () => {
    const core = "/api/v1/namespaces/default/events";
    const body = {
      metadata: { name: "core-test" },
      involvedObject: { namespace: "default" },
      reason: "Test",
      message: "first",
      type: "Normal",
    };
    const { metadata: _before, ...created } = await api.must("POST", core, { body });
    const { metadata: _after, ...patched } = await patch(`${core}/core-test`, STRATEGIC_PATCH, { message: "This is a test event" });
    expect(patched).toEqual({ ...created, message: "This is a test event" });
    expect((await api.must("GET", "/apis/events.k8s.io/v1/namespaces/default/events/core-test"))["note"]).toBe("This is a test event");
    await api.must("DELETE", `${core}/core-test`);
  });
});

upstreamRow("events: delete collection (events.k8s.io; core)", () => {
  it.each(["/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"])(
    "deletecollection of %s with a selector: the selected events go",
    async (path) => {
      for (const name of ["event-1", "event-2", "event-3"]) {
        const labels = { "testevent-set": name === "event-3" ? "false" : "true" };
        const body = { metadata: { name, labels }, involvedObject: { namespace: "default" }, reason: "Test", type: "Normal" };
        await api.must("POST", "/api/v1/namespaces/default/events", { body });
      }
      await api.must("DELETE", path, { query: { labelSelector: "testevent-set=true" } });
      expect(names(await api.must("GET", path, { query: { labelSelector: "testevent-set" } }))).toEqual(["event-3"]);
      await api.must("DELETE", `${path}/event-3`);
    },
  );
});

upstreamRow("namespace: patch, update, status, finalize", () => {
  const path = "/api/v1/namespaces/nspatch";
  it("metadata, status and finalizers of a Namespace: each written through its own endpoint", async () => {
    await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name: "nspatch" } } });
    const labelled = await patch(path, STRATEGIC_PATCH, { metadata: { labels: { testLabel: "testValue" } } });
    expect(labelled.metadata?.labels).toEqual({ "kubernetes.io/metadata.name": "nspatch", testLabel: "testValue" });
    const more = { ...labelled.metadata?.labels, updated: "true" };
    const put = await api.must("PUT", path, { body: { ...labelled, metadata: { ...labelled.metadata, labels: more } } });
    expect(put.metadata?.labels).toEqual(more);
    const condition = { type: "StatusPatch", status: "True", reason: "E2E", message: "Patched by an e2e test" };
    const status = await patch(`${path}/status`, MERGE_PATCH, {
      metadata: { annotations: { "e2e-patched": "true" } },
      status: { conditions: [condition] },
    });
    expect(status.metadata?.annotations).toEqual({ "e2e-patched": "true" });
    expect(status.status).toMatchObject({ phase: "Active", conditions: [condition] });
    const finalized = await api.must("PUT", `${path}/finalize`, {
      body: { ...status, spec: { finalizers: ["kubernetes", "e2e.example.com/test"] } },
    });
    expect(finalized.spec).toEqual({ finalizers: ["kubernetes", "e2e.example.com/test"] });
    const back = await api.must("PUT", `${path}/finalize`, { body: { ...finalized, spec: { finalizers: ["kubernetes"] } } });
    expect(back.spec).toEqual({ finalizers: ["kubernetes"] });
    await api.must("DELETE", path);
    await gone(path);
  });
});

upstreamRow("namespace: pods/services removed; ordered deletion (1.34)", () => {
  const pod = { metadata: { name: "pod" }, spec: { containers: [{ name: "nginx", image: "example.com/pause:1" }] } };
  const make = (name: string) => api.must("POST", "/api/v1/namespaces", { body: { metadata: { name } } });

  it.each([
    ["pods", pod],
    ["services", { metadata: { name: "service" }, spec: { ports: [{ port: 80 }] } }],
  ])("%s in a deleted namespace: gone, and a new namespace of the name is empty", async (resource, body) => {
    const path = `/api/v1/namespaces/ns-${resource}`;
    await make(`ns-${resource}`);
    await api.must("POST", `${path}/${resource}`, { body });
    await api.must("DELETE", path);
    await gone(path);
    await make(`ns-${resource}`);
    expect((await api.must("GET", `${path}/${resource}`)).items).toEqual([]);
  });

  it("a held Pod: the rest stays, and the condition reports it", async () => {
    const path = "/api/v1/namespaces/ns-ordered";
    const lease = "/apis/coordination.k8s.io/v1/namespaces/ns-ordered/leases";
    await make("ns-ordered");
    await api.must("POST", `${path}/pods`, { body: { ...pod, metadata: { name: "pod", finalizers: ["e2e.example.com/finalizer"] } } });
    await api.must("POST", lease, { body: { metadata: { name: "stays" } } });
    await api.must("DELETE", path);
    const told = async () => JSON.stringify((await api.must("GET", path)).status, ["conditions", "type", "status"]);
    await api.until(async () => /"type":"NamespaceFinalizersRemaining","status":"True"/.test(await told()), "the condition");
    expect((await api.must("GET", path)).status).toMatchObject({ phase: "Terminating" });
    expect(await told()).toContain('"type":"NamespaceDeletionContentFailure"');
    expect((await api.must("GET", `${path}/pods/pod`)).metadata?.deletionTimestamp).toBeDefined();
    expect((await api.must("GET", `${lease}/stays`)).metadata?.deletionTimestamp).toBeUndefined();
    await patch(`${path}/pods/pod`, MERGE_PATCH, { metadata: { finalizers: null } });
    await gone(path);
  });
});

upstreamRow("garbage_collector", () => {
  const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const make = (name: string, owners: Body[] = []) => {
    const ownerReferences = owners.map(({ metadata }) => ({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      name: metadata?.name,
      uid: metadata?.uid,
      blockOwnerDeletion: true,
    }));
    return api.must("POST", LEASES, { body: { metadata: { name, ownerReferences } } });
  };
  const remove = (name: string, propagationPolicy: string) => api.must("DELETE", `${LEASES}/${name}`, { body: { propagationPolicy } });
  const read = (name: string) => api.must("GET", `${LEASES}/${name}`);

  it("Orphan: the owner goes, dependents stay without the reference", async () => {
    await make("orphaned", [await make("orphaning")]);
    await remove("orphaning", "Orphan");
    await gone(`${LEASES}/orphaning`);
    expect((await read("orphaned")).metadata).not.toHaveProperty("ownerReferences");
  });

  it("Foreground: the owner outlives its dependents", async () => {
    const owner = await make("foreground");
    await make("held", [owner]);
    await patch(`${LEASES}/held`, MERGE_PATCH, { metadata: { finalizers: ["example.com/hold"] } });
    await remove("foreground", "Foreground");
    await api.until(async () => Boolean((await read("held")).metadata?.deletionTimestamp), "the dependent is being deleted");
    expect((await read("foreground")).metadata?.finalizers).toEqual(["foregroundDeletion"]);
    await patch(`${LEASES}/held`, MERGE_PATCH, { metadata: { finalizers: null } });
    await gone(`${LEASES}/held`);
    await gone(`${LEASES}/foreground`);
  });

  it("a dependent with another live owner: survives without the dead reference", async () => {
    const [going, staying] = [await make("going"), await make("staying")];
    await make("shared", [going, staying]);
    await remove("going", "Foreground");
    await gone(`${LEASES}/going`);
    expect((await read("shared")).metadata?.ownerReferences?.map(({ name }) => name)).toEqual(["staying"]);
  });
});

upstreamRow("TestQuotaLimitService (test/integration/quota)", () => {
  it("Services with node ports and load balancers: upstream's sequence, refused at the same steps", async () => {
    const namespace = "limited";
    await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
    const hard = { services: "4", "services.nodeports": "2", "services.loadbalancers": "2" };
    const root = `/api/v1/namespaces/${namespace}`;
    await api.must("POST", `${root}/resourcequotas`, { body: { metadata: { name: "quota" }, spec: { hard } } });
    let made = 0;
    const create = async (type: string, more: object = {}) => {
      const body = { metadata: { name: `service-${String(++made)}` }, spec: { type, ports: [{ port: 80 }], ...more } };
      const { code, body: answer } = await api.send("POST", `${root}/services`, { body });
      return code === 201 ? 201 : answer.message;
    };
    const refused = (name: string, ...amounts: string[]) =>
      `services "service-${name}" is forbidden: exceeded quota: quota, ${["requested", "used", "limited"].map((of, i) => `${of}: ${amounts[i] ?? ""}`).join(", ")}`;
    expect(await create("NodePort")).toBe(201);
    expect(await create("LoadBalancer")).toBe(201);
    expect(await create("LoadBalancer")).toBe(refused("3", "services.nodeports=1", "services.nodeports=2", "services.nodeports=2"));
    const bare = { allocateLoadBalancerNodePorts: false };
    expect(await create("LoadBalancer", bare)).toBe(201);
    expect(await create("LoadBalancer", bare)).toBe(
      refused("5", "services.loadbalancers=1", "services.loadbalancers=2", "services.loadbalancers=2"),
    );
    expect(await create("ClusterIP")).toBe(201);
    expect(await create("ClusterIP")).toBe(refused("7", "services=1", "services=4", "services=4"));
    const status = async () => (await api.must("GET", `${root}/resourcequotas/quota`)).status;
    const want = JSON.stringify({ hard, used: { services: "4", "services.loadbalancers": "2", "services.nodeports": "2" } });
    await api.until(async () => JSON.stringify(await status()) === want, "the status follows");
  });
});
