/** The Endpoints and the EndpointSlice of default/kubernetes on a real server. */
import { afterAll, describe, expect, it } from "vitest";
import { ownAddress } from "../../../scripts/serve/own-address";
import type { Endpoints, EndpointSlice } from "../../../src/api/meta/kubernetes";
import { upstreamRow } from "../../conformance/upstream-row";
import { getJson, removeFolder, startProcess, temporaryFolder } from "../../support/server/server";
import { serverForTests } from "../../support/server/server-for-tests";

const ENDPOINTS = "/api/v1/namespaces/default/endpoints/kubernetes";
const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

/** What both objects say, in the order of their addresses. */
async function told(url: string): Promise<{ endpoints: string[]; slice: string[]; type: string }> {
  const [endpoints, slice] = await Promise.all([getJson<Endpoints>(url + ENDPOINTS), getJson<EndpointSlice>(url + SLICE)]);
  return {
    endpoints: (endpoints.subsets ?? []).flatMap(({ addresses }) => (addresses ?? []).map(({ ip }) => ip)),
    slice: slice.endpoints.flatMap(({ addresses }) => addresses),
    type: slice.addressType,
  };
}

upstreamRow("endpointslice: API Server slices", () => {
  const server = serverForTests(["--var", "ADVERTISE_ADDRESSES=192.0.2.2,192.0.2.1,2001:db8::1"]);
  const whole = { endpoints: ["192.0.2.1", "192.0.2.2", "2001:db8::1"], slice: ["192.0.2.1", "192.0.2.2"], type: "IPv4" };

  it("the first read: both are there, as upstream's API server writes them", async () => {
    expect(await told(server.url)).toEqual(whole);
    const slice = await getJson<EndpointSlice>(server.url + SLICE);
    expect(slice.metadata).toMatchObject({ generation: 1, labels: { "kubernetes.io/service-name": "kubernetes" } });
    expect(slice.metadata?.ownerReferences).toBeUndefined();
    expect(slice.ports).toEqual([{ name: "https", port: 6443, protocol: "TCP" }]);
  });

  it("deleted or changed: put right at once, without another change", async () => {
    await fetch(server.url + ENDPOINTS, { method: "DELETE" });
    await fetch(server.url + SLICE, {
      method: "PATCH",
      headers: { "Content-Type": "application/merge-patch+json" },
      body: JSON.stringify({ endpoints: [{ addresses: ["192.0.2.99"] }] }),
    });
    await expect.poll(() => told(server.url)).toEqual(whole);
    const { metadata } = await getJson<EndpointSlice>(server.url + SLICE);
    expect(metadata?.generation).toBe(3);
    const managers = metadata?.managedFields?.map(({ manager }) => manager);
    expect(managers).toContain("kube-apiserver");
  });

  it("a restart with the same addresses: nothing is written; with others: they follow, the slice in another family", async () => {
    const before = await getJson<EndpointSlice>(server.url + SLICE);
    await server.interrupt();
    await server.start();
    expect(await getJson<EndpointSlice>(server.url + SLICE)).toEqual(before);
    await server.interrupt();
    await server.start(["--var", "ADVERTISE_ADDRESSES=2001:db8::2"]);
    expect(await told(server.url)).toEqual({ endpoints: ["2001:db8::2"], slice: ["2001:db8::2"], type: "IPv6" });
  });
});

describe("npm start without a word about addresses", () => {
  const folder = temporaryFolder();
  afterAll(() => removeFolder(folder));

  it("tells this machine's first address", async () => {
    const process = startProcess(["--insecure-http", "--port", "0", "--data-dir", folder]);
    const [, url = ""] = await process.printed(/ready at (http:\S+)/);
    const own = ownAddress();
    const response = await fetch(url + SLICE);
    if (own === undefined) expect(response.status).toBe(404);
    else expect((await told(url)).endpoints).toEqual([own]);
    globalThis.process.kill(-process.pid, "SIGINT");
    await process.ended;
  });
});

describe("ownAddress", () => {
  const address = (text: string, internal = false) => ({ address: text, internal }) as never;

  it.each([
    ["loopback alone", { lo: [address("127.0.0.1", true)] }, undefined],
    ["link-local before the others", { eth0: [address("169.254.1.1"), address("192.0.2.1")] }, "192.0.2.1"],
    ["IPv6 before IPv4", { eth0: [address("2001:db8::1"), address("192.0.2.1")] }, "192.0.2.1"],
    ["IPv6 alone", { eth0: [address("fe80::1"), address("2001:DB8::1")] }, "2001:db8::1"],
  ])("%s: %j gives %j", (_, interfaces, want) => {
    expect(ownAddress(interfaces)).toBe(want);
  });
});
