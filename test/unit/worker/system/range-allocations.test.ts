/** The old allocator's RangeAllocations, made of what the owners have. */
import { describe, expect, it, vi } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import { send as ask } from "../client";
import { type Answers, fakeEnv } from "../fake-env";

const DUAL = { FEATURE_GATES: "DisableAllocatorDualWrite=false", SERVICE_CLUSTER_IP_RANGE: "10.96.0.0/24,fd00::/108" };
const TOPOLOGY: Topology = {
  epoch: 9,
  claims: [
    { prefix: "10.96.0.0/25", ownerUid: "low" },
    { prefix: "10.96.0.128/25", ownerUid: "high" },
    { prefix: "10.97.0.0/24", ownerUid: "low" },
    { prefix: "fd00::/64", ownerUid: "six" },
  ],
  ranges: [{ prefix: "10.96.0.0/24", name: "kubernetes" }],
  owners: [
    { uid: "low", epoch: 9 },
    { uid: "high", epoch: 7 },
    { uid: "six", epoch: 7 },
  ],
  free: [],
};
/** What each owner has in the interval that it is asked for, and under which epoch it answers. */
const OWNERS: Record<string, { epoch: number; offsets: number[] }> = {
  "SERVICE_CIDR east/low": { epoch: 9, offsets: [0, 8] },
  "SERVICE_CIDR east/high": { epoch: 7, offsets: [2] },
  "SERVICE_CIDR east/six": { epoch: 7, offsets: [65_534] },
};

function world(owners = OWNERS, services: Service[] = []) {
  const answers: Answers = {
    other(method, object) {
      if (method === "topology") return TOPOLOGY;
      if (method === "objectsAfter") return { objects: services.map((service) => JSON.stringify(service)), next: "" };
      if (method === "objectsNamed" || method === "sweep") return undefined;
      const owner = owners[object];
      return owner && { epoch: owner.epoch, offsets: Uint32Array.from(owner.offsets) };
    },
  };
  const { env, calls } = fakeEnv(answers, DUAL);
  const send = async (path: string, method = "GET", body?: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const init = { method, ...(body === undefined ? {} : { body: text, headers: { "Content-Type": "application/json" } }) };
    return ask(`http://h/clusters/east/admin/rangeallocations/${path}`, init, env);
  };
  return { send, calls, env };
}

const bytesOf = (data: string) => [...atob(data)].map((character) => character.charCodeAt(0));

describe("GET", () => {
  it("a range of several owners: each is asked for its part, and their bits are joined", async () => {
    const { send, calls } = world();
    const response = await send("serviceips");
    expect(response.status).toBe(200);
    const { data, ...rest } = await response.json<{ data: string }>();
    expect(rest).toEqual({ kind: "RangeAllocation", apiVersion: "v1", metadata: { name: "serviceips" }, range: "10.96.0.0/24" });
    // .1 and .9 of the lower half, .130 of the upper one: bits 0, 8 and 129
    expect(bytesOf(data)).toEqual([0b10, ...Array<number>(14).fill(0), 1, 1]);
    expect(calls.filter(({ method }) => method === "takenIn").map(({ object, argument }) => ({ object, argument }))).toEqual([
      { object: "SERVICE_CIDR east/low", argument: { first: "10.96.0.1", last: "10.96.0.127" } },
      { object: "SERVICE_CIDR east/high", argument: { first: "10.96.0.128", last: "10.96.0.254" } },
    ]);
  });

  it("the second range: 65535 bits, as the old bitmap", async () => {
    const { send, calls } = world();
    const { data, range } = await (await send("secondaryserviceips")).json<{ data: string; range: string }>();
    expect([range, bytesOf(data).length, bytesOf(data)[0]]).toEqual(["fd00::/108", 8192, 0b0100_0000]);
    expect(calls.find(({ method }) => method === "takenIn")?.argument).toEqual({ first: "fd00::1", last: "fd00::ffff" });
  });

  it("ranges that change meanwhile: 503, never a mixture", async () => {
    const { send, calls } = world({ ...OWNERS, "SERVICE_CIDR east/high": { epoch: 6, offsets: [] } });
    const response = await send("serviceips");
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
    expect(calls.filter(({ method }) => method === "topology")).toHaveLength(5);
  });

  it("an owner that does not answer: a Status", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    expect((await world({}).send("serviceips")).status).toBe(500);
  });

  it("gate on, another name, or no second range: 404", async () => {
    const { send } = world();
    expect((await send("servicenodeports")).status).toBe(404);
    const path = "http://h/admin/rangeallocations/";
    expect((await ask(`${path}serviceips`, {}, fakeEnv().env)).status).toBe(404);
    const single = fakeEnv({}, { FEATURE_GATES: DUAL.FEATURE_GATES }).env;
    expect((await ask(`${path}secondaryserviceips`, {}, single)).status).toBe(404);
    expect((await send("serviceips", "DELETE")).status).toBe(405);
  });
});

describe("PUT", () => {
  const brought = (data: string, range = "10.96.0.0/24") => ({ kind: "RangeAllocation", apiVersion: "v1", range, data });

  const served = (name: string, clusterIP: string): Service => ({ metadata: { namespace: "shop", name }, spec: { clusterIP } });

  it("bits that differ: named; a bit without an object: takes no address", async () => {
    const { send, calls } = world();
    // bits 0 and 1
    const response = await send("serviceips", "PUT", brought("Aw=="));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: "Success",
      message: "imported: 1 held, 0 repairing, 1 unexplained, 2 missing",
      details: {
        causes: [
          { reason: "Unexplained", field: "10.96.0.2", message: "bit set there, and no object has the address here" },
          { reason: "Missing", field: "10.96.0.9" },
          { reason: "Missing", field: "10.96.0.130" },
        ],
      },
    });
    expect(new Set(calls.map(({ method }) => method))).toEqual(new Set(["topology", "takenIn", "objectsNamed", "objectsAfter"]));
  });

  it.each([
    ["", "imported: 1 held, 2 repairing, 0 unexplained, 2 missing", 1],
    ["?dryRun=All", "compared, nothing was changed: 1 held, 2 repairing, 0 unexplained, 2 missing", 0],
  ])("addresses of objects without a row (%j): repair is asked to take them", async (query, message, sweeps) => {
    const { send, calls } = world(OWNERS, [
      served("a", "10.96.0.2"),
      served("none", "None"),
      served("b", "10.96.0.3"),
      served("c", "10.96.0.4"),
    ]);
    // bits 0, 1 and 2
    const response = await send(`serviceips${query}`, "PUT", brought("Bw=="));
    expect(await response.json()).toMatchObject({
      message,
      details: {
        causes: [
          { reason: "Repairing", field: "10.96.0.2", message: "taken there, and Service shop/a has no row of it here" },
          { reason: "Repairing", field: "10.96.0.3" },
          { reason: "Missing" },
          { reason: "Missing" },
        ],
      },
    });
    expect(calls.filter(({ method }) => method === "sweep").map(({ object }) => object)).toHaveLength(sweeps);
  });

  it("its own answer as input: no difference, and no store is asked", async () => {
    const { send, calls } = world();
    const answer = await send("serviceips", "PUT", await (await send("serviceips")).text());
    expect(await answer.json()).toMatchObject({ message: "imported: 3 held, 0 repairing, 0 unexplained, 0 missing" });
    expect(new Set(calls.map(({ method }) => method))).toEqual(new Set(["topology", "takenIn"]));
  });

  it("a dryRun other than All: refused", async () => {
    const response = await world().send("serviceips?dryRun=Some", "PUT", brought("Aw=="));
    expect([response.status, await response.json()]).toEqual([422, expect.objectContaining({ reason: "Invalid" })]);
  });

  it.each<[string, unknown, number, string]>([
    ["another range", brought("AQ==", "10.96.0.0/23"), 409, "the provided range does not match the current range"],
    ["a bit outside", brought(btoa("\x80" + "\0".repeat(31))), 400, "its bit 255 is outside the range 10.96.0.0/24"],
    ["no base64", brought("?"), 400, "its data is no base64"],
    ["another kind", { ...brought("AQ=="), kind: "Service" }, 400, "the body is no RangeAllocation"],
    ["a list", [], 400, "the body is no RangeAllocation"],
    ["no JSON", "{", 400, "the body is no JSON"],
  ])("%s: refused", async (_name, body, code, text) => {
    const response = await world().send("serviceips", "PUT", body);
    expect([response.status, (await response.json<{ message: string }>()).message]).toEqual([code, expect.stringContaining(text)]);
  });
});
