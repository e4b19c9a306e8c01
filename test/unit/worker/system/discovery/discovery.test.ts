import { describe, expect, it } from "vitest";
import { get, json } from "../../client";

const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

interface GroupDiscovery {
  metadata: { name: string };
  versions: {
    version: string;
    resources: { resource: string; responseKind: { kind: string }; subresources?: { subresource: string }[] }[];
  }[];
}

describe("discovery", () => {
  it.each(["/api", "/apis", "/api/", "/apis/"])("%s aggregated: the exact Content-Type", async (path) => {
    const response = await get(path, { Accept: AGGREGATED });
    expect(response.headers.get("Content-Type")).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    expect(await response.json()).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
    const beta = { Accept: "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList" };
    expect((await get(path, beta)).status, "v2beta1 alone").toBe(406);
    const plain = await get(path, { Accept: `${beta.Accept},application/json` });
    expect(await plain.json()).toMatchObject({ kind: path.startsWith("/apis") ? "APIGroupList" : "APIVersions" });
  });

  it.each(["/api", "/apis"])("%s aggregated, asked again with its ETag: 304 without a body", async (path) => {
    const first = await get(path, { Accept: AGGREGATED });
    const etag = first.headers.get("ETag") ?? "";
    expect(etag).toMatch(/^"[0-9A-F]{64}"$/);
    expect([first.headers.get("Vary"), first.headers.get("Cache-Control")]).toEqual(["Accept", "public"]);
    const again = await get(path, { Accept: AGGREGATED, "If-None-Match": etag });
    expect([again.status, again.headers.get("ETag"), await again.text()]).toEqual([304, etag, ""]);
    const other = await get(path, { Accept: AGGREGATED, "If-None-Match": '"other"' });
    expect(other.status).toBe(200);
  });

  it("aggregated discovery: /api holds the unnamed group, /apis the named ones", async () => {
    const core = await json<{ items: GroupDiscovery[] }>("/api", { Accept: AGGREGATED });
    expect(core.items.map(({ metadata }) => metadata)).toEqual([{ name: "" }]);
    const services = core.items[0]?.versions[0]?.resources.find(({ resource }) => resource === "services");
    expect(services).toMatchObject({ responseKind: { kind: "Service" }, subresources: [{ subresource: "status" }] });
    const named = await json<{ items: GroupDiscovery[] }>("/apis", { Accept: AGGREGATED });
    const networking = named.items.find(({ metadata }) => metadata.name === "networking.k8s.io");
    expect(networking?.versions.map(({ version }) => version)).toEqual(["v1", "v1beta1"]);
    expect(named.items.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(["authentication.k8s.io", "authorization.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io"]),
    );
  });

  it("plain discovery: groups, versions and resources", async () => {
    expect(await json("/api")).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    expect(await json("/apis")).toMatchObject({ kind: "APIGroupList", apiVersion: "v1" });
    for (const path of ["/apis/networking.k8s.io", "/apis/networking.k8s.io/"]) {
      expect(await json(path)).toMatchObject({ kind: "APIGroup", name: "networking.k8s.io", preferredVersion: { version: "v1" } });
    }
    for (const path of ["/api/v1", "/api/v1/"]) expect(await json(path)).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
    const list = await json<{ groupVersion: string; resources: { name: string }[] }>("/apis/networking.k8s.io/v1beta1");
    expect(list.groupVersion).toBe("networking.k8s.io/v1beta1");
    expect(list.resources.map(({ name }) => name)).toEqual(expect.arrayContaining(["ipaddresses", "servicecidrs", "servicecidrs/status"]));
  });

  it("a resource: stands before its subresources", async () => {
    const { resources } = await json<{ resources: { name: string }[] }>("/api/v1");
    const names = resources.map(({ name }) => name);
    expect(names.indexOf("services")).toBeLessThan(names.indexOf("services/status"));
  });

  it("nodes/proxy: with upstream's kind and verbs, also in aggregated discovery", async () => {
    const { resources } = await json<{ resources: { name: string }[] }>("/api/v1");
    expect(resources.find(({ name }) => name === "nodes/proxy")).toEqual({
      name: "nodes/proxy",
      singularName: "",
      namespaced: false,
      kind: "NodeProxyOptions",
      verbs: ["create", "delete", "get", "patch", "update"],
    });
    const core = await json<{ items: GroupDiscovery[] }>("/api", { Accept: AGGREGATED });
    const nodes = core.items[0]?.versions[0]?.resources.find(({ resource }) => resource === "nodes");
    expect(nodes?.subresources?.map(({ subresource }) => subresource)).toEqual(expect.arrayContaining(["proxy", "status"]));
  });

  it("create-only reviews: listed with the verb create alone", async () => {
    const { resources } = await json<{ resources: { name: string; verbs: string[]; namespaced: boolean }[] }>(
      "/apis/authorization.k8s.io/v1",
    );
    expect(resources.find(({ name }) => name === "selfsubjectaccessreviews")).toMatchObject({ verbs: ["create"], namespaced: false });
    expect(resources.find(({ name }) => name === "localsubjectaccessreviews")).toMatchObject({ verbs: ["create"], namespaced: true });
  });
});
