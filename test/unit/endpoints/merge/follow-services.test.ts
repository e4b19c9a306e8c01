import { describe, expect, it } from "vitest";
import { followServices } from "../../../../src/endpoints/merge/follow-services";
import { aService, aSlice, anEndpoint } from "../../../support/values/endpoint-objects";
import { HeldServer } from "../../../support/worlds/held-server";

function follow(server: HeldServer) {
  const errors: string[] = [];
  const pending = { calls: 0 };
  const followed = followServices({
    fetch: server.fetch,
    clock: {
      now: () => 0,
      after: (_, work) => {
        const timer = setTimeout(work, 1);
        return () => clearTimeout(timer);
      },
    },
    onPending: () => pending.calls++,
    onError: (error) => errors.push(error.message),
  });
  const sync = () => {
    const { updated, removed } = followed.sync();
    return [
      ...updated.map(({ service, endpoints }) => `${service.name} ${endpoints.get("http/TCP")?.length ?? 0}`),
      ...removed.map(({ name }) => `-${name}`),
    ];
  };
  return { errors, pending, sync, stop: () => followed.stop() };
}

describe("followServices", () => {
  it("both lists: asked for as kube-proxy asks, and told of when both are there", async () => {
    const server = new HeldServer();
    const { pending, sync, stop } = follow(server);
    await server.list("services", [aService("web")]);
    await expect.poll(() => server.asked.some((path) => path.includes("watch=true"))).toBe(true);
    expect([pending.calls, sync()]).toEqual([0, []]);
    await server.list("endpointslices", [aSlice("web-a", "web", [anEndpoint("10.1.0.1")])]);
    await expect.poll(() => pending.calls).toBe(1);
    expect(sync()).toEqual(["web 1"]);
    expect(server.asked.filter((path) => !path.includes("watch=true"))).toEqual([
      "/api/v1/services?limit=500&labelSelector=!service.kubernetes.io%2Fservice-proxy-name&fieldSelector=spec.clusterIP!%3DNone",
      "/apis/discovery.k8s.io/v1/endpointslices?limit=500&labelSelector=!service.kubernetes.io%2Fheadless",
    ]);
    stop();
  });

  it("cluster without Services: told of once", async () => {
    const server = new HeldServer();
    const { pending, sync, stop } = follow(server);
    await server.list("services", []);
    await server.list("endpointslices", []);
    await expect.poll(() => pending.calls).toBe(1);
    expect(sync()).toEqual([]);
    stop();
  });

  it("events: told of while something waits for sync; deletions are", async () => {
    const server = new HeldServer();
    const { pending, sync, stop } = follow(server);
    await server.list("services", [aService("web"), aService("api")]);
    await server.list("endpointslices", [aSlice("web-a", "web", [anEndpoint("10.1.0.1")])]);
    await expect.poll(() => pending.calls).toBe(1);
    expect(sync()).toEqual(["web 1", "api 0"]);
    // One that says nothing new, then one that does.
    await server.send("services", "MODIFIED", aService("web"));
    await server.send("services", "DELETED", aService("api"));
    await expect.poll(() => pending.calls).toBe(2);
    await server.send("endpointslices", "DELETED", aSlice("web-a", "web", []));
    await expect.poll(() => pending.calls).toBe(3);
    expect(sync()).toEqual(["web 0", "-api"]);
    stop();
  });

  it("refusal: reported, and asked again", async () => {
    const server = new HeldServer();
    const { errors, pending, stop } = follow(server);
    await server.list("services", [], 403);
    await server.list("endpointslices", []);
    await server.list("services", []);
    await expect.poll(() => pending.calls).toBe(1);
    expect(errors).toHaveLength(1);
    stop();
  });
});
