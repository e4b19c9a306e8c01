/** GET and POST /check, over objects that are fakes. */
import { describe, expect, it, vi } from "vitest";
import type { CheckReport } from "../../../../src/tools/check/check-cluster";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import { CONTROLLERS } from "../../../../durable-objects/platform/controllers";
import type { ControllersView } from "../../../../src/worker/system/controller-statuses";
import { CHECK_CALLS_MAX, CHECK_ENDPOINTS_MAX, CHECK_OBJECTS_MAX } from "../../../../src/worker/http/limits";
import { PATIENCE } from "../../../support/objects/patience";
import { healthy, ipAddress, row, service } from "../../../support/worlds/checked-cluster";
import { type Answers, fakeEnv } from "../fake-env";
import { send } from "../client";

const UID = "owner-1";
const TOPOLOGY: Topology = { epoch: 3, claims: [{ prefix: "10.96.0.0/16", ownerUid: UID }], ranges: [], owners: [], free: [] };

/** Two Services, each with its IPAddress and its row; `changed` answers instead where it answers something. */
function world(changed: Answers["other"] = () => undefined, vars = {}) {
  const { services, ipAddresses, serviceCIDRs } = healthy();
  const objects: Record<string, readonly object[] | undefined> = {
    "SERVICES_STORE default/services": services,
    "IP_ADDRESSES_STORE default/ipaddresses.networking.k8s.io": ipAddresses,
    "COORDINATOR default/coordinator": serviceCIDRs,
  };
  const { env, calls } = fakeEnv(
    {
      other(method, object) {
        const answer = changed(method, object);
        if (answer !== undefined) return answer;
        if (method === "topology") return TOPOLOGY;
        if (method === "objectsAfter") return { objects: (objects[object] ?? []).map((one) => JSON.stringify(one)), cursor: {}, next: "" };
        if (method === "nodePortRows") return [{ protocol: "TCP", port: 30080, key: "default/web" }];
        if (method === "inspect")
          return {
            epoch: 3,
            rows: [row("10.96.0.1", "kubernetes"), row("10.96.0.20", "web")].map((one, i) => ({
              ...one,
              position: i + 1,
              token: "secret",
            })),
            differs: "",
          };
        return undefined;
      },
    },
    vars,
  );
  return { calls, send: (path: string, method = "GET", headers = {}) => send(`http://h${path}`, { method, headers }, env) };
}

const pageOf = (objects: string[]) => ({ objects, cursor: {}, next: "" });

/** Slices of `default/web` with more endpoints than one request compares. */
function manyEndpoints(): string[] {
  const labels = { "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };
  const endpoints = Array.from({ length: 1_000 }, () => ({ addresses: ["10.1.0.1"] }));
  const slice = JSON.stringify({ metadata: { namespace: "default", name: "web-a", labels }, addressType: "IPv4", endpoints });
  return Array<string>(CHECK_ENDPOINTS_MAX / 1_000).fill(slice);
}

/** No laptop: others are to reach the server, and no address is configured. */
const UNTOLD = {
  rule: "notice",
  objects: [],
  message: "the Service default/kubernetes has no endpoints: ADVERTISE_ADDRESSES names no address of the API servers",
};

describe("GET /check", () => {
  it("a healthy cluster: read from its stores and owners, nothing wrong", async () => {
    const response = await world().send("/check");
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "application/json"]);
    expect(await response.json()).toEqual({
      checked: { services: 2, ipAddresses: 2, serviceCIDRs: 1, owners: 1, rows: 2 },
      wrong: [],
      notices: [UNTOLD],
      unchecked: [],
      looks: 1,
    });
  });

  it.each([{ ADVERTISE_ADDRESSES: "192.0.2.1" }, { LOOPBACK_ONLY: "true", ALLOWED_HOSTS: "h" }])(
    "with %j: no notice about addresses",
    async (vars) => {
      const report = (await (await world(undefined, vars).send("/check")).json()) as CheckReport;
      expect(report.notices).toEqual([]);
    },
  );

  it("many objects: read page by page", async () => {
    const { services } = healthy();
    let pages = 0;
    const { send: get } = world((method, object) => {
      if (method !== "objectsAfter" || !object.startsWith("SERVICES_STORE")) return undefined;
      const one = services[pages++];
      return { objects: [JSON.stringify(one)], cursor: {}, next: pages < 2 ? "default/kubernetes" : "" };
    });
    expect(((await (await get("/check")).json()) as CheckReport).checked.services).toBe(2);
  });

  it("a problem: looked at again, then reported", async () => {
    vi.useFakeTimers();
    try {
      const { send: get } = world((method, object) => {
        const isAddresses = method === "objectsAfter" && object.startsWith("IP_ADDRESSES_STORE");
        return isAddresses ? { objects: [JSON.stringify(ipAddress("10.96.0.1", "kubernetes"))], cursor: {}, next: "" } : undefined;
      });
      const answering = get("/check");
      await vi.advanceTimersByTimeAsync(60_000);
      const report = (await (await answering).json()) as CheckReport;
      expect(report.wrong).toEqual([
        { rule: "I2", objects: ["Service default/web"], message: "default/web holds 10.96.0.20, which has no IPAddress" },
      ]);
      expect(report.looks).toBeGreaterThan(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("an owner that does not answer: named as unchecked, the rest is checked", async () => {
    const failing = (method: string) => {
      if (method === "inspect") throw new Error("Network connection lost.");
      return undefined;
    };
    const report = (await (await world(failing).send("/check")).json()) as CheckReport;
    expect(report).toMatchObject({
      wrong: [],
      unchecked: [`the owner ${UID} could not be read: the server is currently unable to handle the request`],
    });
  });

  it("an unreadable object: named, and the others are checked", async () => {
    const damaged = (method: string, object: string) => {
      if (method !== "objectsAfter" || !object.startsWith("SERVICES_STORE")) return undefined;
      const objects = [JSON.stringify(service("kubernetes", "10.96.0.1")), '{"metadata":{"name":"we'];
      return { objects, keys: ["default/kubernetes", "default/web"], cursor: {}, next: "" };
    };
    const report = (await (await world(damaged).send("/check")).json()) as CheckReport;
    expect(report).toMatchObject({ checked: { services: 1, ipAddresses: 2 }, notices: [UNTOLD], unchecked: [] });
    expect(report.wrong).toEqual([
      { rule: "object", objects: ["Service default/web"], message: "Service default/web is stored, and cannot be read" },
    ]);
  });

  it("the old allocator: the configured ranges count, not the objects", async () => {
    const gate = { FEATURE_GATES: "MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false" };
    const { send: get } = world(undefined, gate);
    expect(await (await get("/check")).json()).toMatchObject({
      wrong: [],
      unchecked: [],
      checked: { services: 2, serviceCIDRs: 0, owners: 1 },
    });
  });

  it.each([
    [
      "a store that does not answer",
      (method: string) => {
        if (method === "objectsAfter") throw new Error("Network connection lost.");
        return undefined;
      },
      503,
      "the server is currently unable to handle the request",
    ],
    [
      "a cluster that is too large for one request",
      (method: string, object: string) => {
        if (method !== "objectsAfter" || !object.startsWith("SERVICES_STORE")) return undefined;
        return { objects: Array.from({ length: CHECK_OBJECTS_MAX + 1 }, () => '{"metadata":{"name":"a"}}'), cursor: {}, next: "" };
      },
      400,
      "the cluster is too large to be checked by one request: npm run check reads it page by page",
    ],
  ])("%s: an error in place of a report", async (_, changed, code, message) => {
    const response = await world(changed).send("/check");
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([code, message]);
  });

  it.each<[string, (store: string) => string[] | undefined]>([
    ["Pods", (store) => (store.endsWith("/pods") ? Array<string>(CHECK_OBJECTS_MAX + 1).fill('{"metadata":{"name":"a"}}') : undefined)],
    ["endpoints", (store) => (store.endsWith("/endpointslices.discovery.k8s.io") ? manyEndpoints() : undefined)],
  ])("too many %s for one request: one line says so, everything else is checked", async (_, many) => {
    const services = healthy().services.map((one) => ({ ...one, spec: { ...one.spec, selector: { app: one.metadata?.name } } }));
    let reads = 0;
    const { send: get } = world(
      (method, object) => {
        if (method !== "objectsAfter") return undefined;
        if (object.startsWith("IP_ADDRESSES_STORE")) return pageOf([JSON.stringify(ipAddress("10.96.0.1", "kubernetes"))]);
        if (object.startsWith("SERVICES_STORE")) return pageOf(services.map((one) => JSON.stringify(one)));
        const objects = many(object);
        if (objects) reads++;
        return objects && pageOf(objects);
      },
      { ADVERTISE_ADDRESSES: "192.0.2.1" },
    );
    vi.useFakeTimers();
    try {
      const answering = get("/check");
      await vi.advanceTimersByTimeAsync(60_000);
      const report = (await (await answering).json()) as CheckReport;
      expect(report).toMatchObject({ checked: { services: 2, rows: 2 }, wrong: [{ rule: "I2", objects: ["Service default/web"] }] });
      expect(report.unchecked).toEqual([
        "too many Pods or endpoints for one request: whether EndpointSlices agree with Pods was not checked; npm run check compares them",
      ]);
      expect([report.looks > 1, reads]).toEqual([true, 1]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("the bound of rows: counts all owners together", async () => {
    const rows = Array.from({ length: 5_000 }, (_, i) => ({ ...row("10.96.0.1", "web"), position: i + 1 }));
    const claims = Array.from({ length: 7 }, (_, i) => ({ prefix: `10.${String(i)}.0.0/16`, ownerUid: `owner-${String(i)}` }));
    const pages = new Map<string, number>();
    const changed = (method: string, object: string) => {
      if (method === "topology") return { ...TOPOLOGY, claims };
      if (method !== "inspect") return undefined;
      const page = (pages.get(object) ?? 0) + 1;
      pages.set(object, page);
      return { epoch: 3, rows: page < 5 ? rows : [], differs: "" };
    };
    const response = await world(changed).send("/check");
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      400,
      "the cluster is too large to be checked by one request: npm run check reads it page by page",
    ]);
  });

  it("the bound of calls: counts all owners together, silent ones too", async () => {
    const others = Array.from({ length: CHECK_CALLS_MAX }, (_, i) => ({ prefix: `10.${i >> 8}.${i & 255}.0/24`, ownerUid: `other-${i}` }));
    const changed = (method: string, object: string) => {
      if (method === "topology") return { ...TOPOLOGY, claims: [...TOPOLOGY.claims, ...others] };
      return method === "inspect" && !object.endsWith(UID) ? { epoch: 3, rows: [], differs: "" } : undefined;
    };
    const response = await world(changed).send("/check");
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      400,
      "the cluster is too large to be checked by one request: npm run check reads it page by page",
    ]);
  });

  it("a second check: 429; a repair beside a check: accepted", async () => {
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const { send: ask, calls } = world((method) => (method === "topology" ? held.then(() => TOPOLOGY) : undefined));
    const first = ask("/check");
    // All that the first check asks before the topology is there: the advertised addresses are two objects.
    await vi.waitFor(() => expect(calls.filter(({ method }) => method === "topology" || method === "get")).toHaveLength(3), PATIENCE);
    const before = calls.length;
    const second = await ask("/check");
    expect([second.status, second.headers.get("Retry-After")]).toEqual([429, "1"]);
    expect(await second.json()).toMatchObject({ reason: "TooManyRequests", message: "Too many requests, please try again later." });
    expect(calls).toHaveLength(before);
    expect((await ask("/check", "POST")).status).toBe(202);
    letGo();
    expect((await first).status).toBe(200);
    expect((await ask("/check")).status).toBe(200);
  });

  it.each([
    ["DELETE", "/check"],
    ["POST", "/check/owners"],
    ["POST", "/check/nodeports"],
    ["POST", "/check/slices"],
    ["POST", "/check/controllers"],
    ["PUT", `/check/owners/${UID}`],
  ])("%s %s: 405", async (method, path) => {
    expect((await world().send(path, method)).status).toBe(405);
  });
});

describe("GET /check/owners", () => {
  it("the claims and their owners: listed", async () => {
    expect(await (await world().send("/check/owners")).json()).toEqual({ epoch: 3, claims: TOPOLOGY.claims });
  });

  it("one owner: its rows without release tokens", async () => {
    const { send: get, calls } = world();
    expect(await (await get(`/check/owners/${UID}?after=7`)).json()).toEqual({
      rows: [row("10.96.0.1", "kubernetes"), row("10.96.0.20", "web")],
      differs: "",
      next: 0,
    });
    expect(calls).toContainEqual({ object: `SERVICE_CIDR default/${UID}`, method: "inspect", argument: 7 });
  });

  it("a page: names the position of the next one", async () => {
    const full = Array.from({ length: 5_000 }, (_, i) => ({ ...row("10.96.0.1", "web"), position: i + 3 }));
    const { send: get } = world((method) => (method === "inspect" ? { epoch: 3, rows: full, differs: "" } : undefined));
    expect(await (await get(`/check/owners/${UID}`)).json()).toMatchObject({ next: 5_002 });
  });

  it("an unknown owner: 404, and no object is created", async () => {
    const { send: get, calls } = world();
    expect((await get("/check/owners/another")).status).toBe(404);
    expect(calls.filter(({ method }) => method === "inspect")).toEqual([]);
  });

  it.each(["x", "-1", "1e3", "1234567890123456"])("after=%s: 400", async (after) => {
    expect((await world().send(`/check/owners/${UID}?after=${after}`)).status).toBe(400);
  });

  it("Accept of YAML: YAML", async () => {
    const response = await world().send("/check/owners", "GET", { Accept: "application/yaml" });
    expect(await response.text()).toContain("epoch: 3\n");
  });
});

describe("GET /check/nodeports", () => {
  it("the rows of node ports: listed", async () => {
    const rows = [{ protocol: "TCP", port: 30080, key: "default/web" }];
    expect(await (await world().send("/check/nodeports")).json()).toEqual({ rows });
  });
});

describe("GET /check/controllers", () => {
  const STATUS = { sinceMs: 1, passes: 2, unfinished: 1, totals: { read: 3, done: 4, putOff: 5, later: 6 }, behindSinceMs: 7 };

  it("each controller: its status, or that it is off or does not answer; one without work is not asked", async () => {
    const { send: get, calls } = world(
      (method, object) => {
        if (method !== "controllerStatus") return undefined;
        if (object.endsWith("/repair")) return STATUS;
        if (object.endsWith("/namespaces")) return null;
        return new Promise((_, reject) => reject(new TypeError('The RPC receiver does not implement the method "controllerStatus".')));
      },
      { AUTHORIZATION_MODE: "AlwaysAllow" },
    );
    const { controllers } = (await (await get("/check/controllers")).json()) as ControllersView;
    const view = (name: string): unknown => controllers.find((one) => one.name === name);
    expect(controllers).toHaveLength(CONTROLLERS.names.length);
    expect(view("repair")).toEqual({ name: "repair", state: "on", ...STATUS });
    expect(view("namespaces")).toEqual({ name: "namespaces", state: "off" });
    expect(view("garbage-collection")).toEqual({ name: "garbage-collection", state: "silent" });
    expect(view("serviceaccount-controller")).toEqual({ name: "serviceaccount-controller", state: "off" });
    expect(calls.filter(({ object }) => object.endsWith("/serviceaccount-controller"))).toEqual([]);
  });
});

describe("GET /check/slices", () => {
  it.each<[string, object, boolean]>([
    ["the variable switches it off", { CONTROLLERS: "*,-endpointslice-controller" }, false],
    ["the variable names others", { CONTROLLERS: "namespace-controller,service-cidr-controller" }, false],
  ])("%s: whether the controller runs, and how long changes of Pods wait", async (_, vars, running) => {
    const { send: get } = world(undefined, { ...vars, ENDPOINTSLICE_UPDATES_BATCH_PERIOD: "500ms" });
    expect(await (await get("/check/slices")).json()).toEqual({ running, batchMs: 500 });
  });

  it("a Service with a selector, and nobody keeps slices: a notice", async () => {
    const services = healthy().services.map((one) =>
      one.metadata?.name === "web" ? { ...one, spec: { ...one.spec, selector: { app: "web" } } } : one,
    );
    const { send: get } = world(
      (method, object) =>
        method === "objectsAfter" && object.startsWith("SERVICES_STORE")
          ? { objects: services.map((one) => JSON.stringify(one)), cursor: {}, next: "" }
          : undefined,
      { CONTROLLERS: "*,-endpointslice-controller", ADVERTISE_ADDRESSES: "192.0.2.1" },
    );
    const { notices } = (await (await get("/check")).json()) as CheckReport;
    expect(notices.map(({ message }) => message)).toEqual([
      "EndpointSlices were not compared with Pods: endpointslice-controller is switched off in this cluster",
    ]);
  });
});

describe("POST /check", () => {
  it("POST: begins every repair", async () => {
    const { send: post, calls } = world();
    const response = await post("/check", "POST");
    expect([response.status, ((await response.json()) as { status: string }).status]).toEqual([202, "Success"]);
    const begun = calls.map(({ object, method }) => `${object} ${method}`).sort();
    expect(begun).toEqual([
      "CONTROLLER default/controllers/repair sweep",
      "COORDINATOR default/coordinator maintain",
      "IP_ADDRESSES_STORE default/ipaddresses.networking.k8s.io auditAll",
      "SERVICES_STORE default/services auditAll",
      "SERVICES_STORE default/services maintain",
    ]);
  });

  it("a repair that cannot begin: named", async () => {
    const { send: post } = world((method) => {
      if (method === "sweep") throw new Error("Network connection lost.");
      return undefined;
    });
    expect((await post("/check", "POST")).status).toBe(503);
  });
});
