/** POST /revisions, over objects that are fakes. */
import { describe, expect, it } from "vitest";
import { storedDefinitions } from "../../../../src/api/registry/all";
import type { BeginningAbove } from "../../../../src/api/rpc/store";
import { send } from "../client";
import { type Answers, fakeEnv } from "../fake-env";

const AS_OF = "2026-11-01T12:00:00Z";
const asOf = Date.parse(AS_OF);

async function ask(body: unknown, { method = "POST", other = () => 1_000_004_711, path = "/revisions" }: Partial<Asked> = {}) {
  const { env, calls, declared } = fakeEnv({ other });
  const init = { method, headers: { "Content-Type": "application/json" }, ...(method === "GET" ? {} : { body: JSON.stringify(body) }) };
  const response = await send(`http://h${path}`, init, env);
  const begun = [...calls, ...declared].filter(({ method: called }) => called === "beginAbove");
  return {
    code: response.status,
    body: (await response.json()) as { message?: string; revisions?: Record<string, string> },
    begun: new Map(begun.map(({ object, argument }) => [object, argument as BeginningAbove])),
  };
}

interface Asked {
  method: string;
  path: string;
  other: NonNullable<Answers["other"]>;
}

describe("POST /revisions", () => {
  it("heads of a backup: each store once, above its head; one without a head above the greatest, and both types of events have one store", async () => {
    const heads = {
      services: "4711",
      "servicecidrs.networking.k8s.io": "12",
      events: "5",
      "events.events.k8s.io": "9",
      "gone.example.com": "8000",
    };
    const { code, body, begun } = await ask({ asOf: AS_OF, heads });
    expect([code, Object.keys(body.revisions ?? {}).length, begun.size]).toEqual([200, storedDefinitions.length, storedDefinitions.length]);
    expect(begun.get("SERVICES_STORE default/services")).toEqual({ head: 4_711, asOf });
    expect(begun.get("COORDINATOR default/coordinator")).toEqual({ head: 12, asOf });
    expect(begun.get("RESOURCE_STORE default/events")).toEqual({ head: 9, asOf });
    expect(begun.get("RESOURCE_STORE default/leases.coordination.k8s.io")).toEqual({ head: 8_000, asOf });
    expect(body.revisions?.["services"]).toBe("1000004711");
  });

  it("stores that were brought back: these alone, each above its own head; all of them without names", async () => {
    const some = await ask({ asOf: AS_OF, resources: ["services", "events.events.k8s.io"] });
    expect([...some.begun]).toEqual([
      ["SERVICES_STORE default/services", { asOf }],
      ["RESOURCE_STORE default/events", { asOf }],
    ]);
    expect((await ask({ asOf: AS_OF })).begun.size).toBe(storedDefinitions.length);
  });

  it.each([
    ["no time", {}, /^asOf must be/],
    ["a time that is none", { asOf: "yesterday" }, /^asOf must be/],
    ["a head that is no revision", { asOf: AS_OF, heads: { services: "-1" } }, /^heads must name/],
    ["a head as a number", { asOf: AS_OF, heads: { services: 1 } }, /^heads must name/],
    ["a head beyond 2^53", { asOf: AS_OF, heads: { services: "9007199254740993" } }, /^heads must name/],
    ["no heads", { asOf: AS_OF, heads: {} }, /^heads must name/],
    ["a list of heads", { asOf: AS_OF, heads: ["1"] }, /^heads must name/],
    ["an unknown resource", { asOf: AS_OF, resources: ["services", "deployments.apps"] }, /^resources must be names of /],
    ["no resources", { asOf: AS_OF, resources: [] }, /^resources must be names of /],
    ["a resource that is no text", { asOf: AS_OF, resources: [1] }, /^resources must be names of /],
    ["a name of the prototype", { asOf: AS_OF, resources: ["__proto__"] }, /^resources must be names of /],
    ["heads and resources", { asOf: AS_OF, heads: { services: "1" }, resources: ["services"] }, /exclude each other$/],
    ["an unknown member", { asof: AS_OF }, /unknown field "asof"/],
    ["no object", [], /^the body is no JSON object$/],
  ])("%s: 400, and no store is asked", async (_, body, message) => {
    const answer = await ask(body);
    expect([answer.code, answer.begun.size]).toEqual([400, 0]);
    expect(answer.body.message).toMatch(message);
  });

  it.each([
    ["more heads than any cluster has stores", `{"heads":{${Array.from({ length: 150_000 }, (_, i) => `"s${i}":"1"`).join(",")}}}`, 413],
    ["a body just beyond its limit", `{"asOf":"${"0".repeat(64 * 1024)}"}`, 413],
    ["lists in lists", "[".repeat(60_000), 400],
    ["maps in maps", '{"a":'.repeat(10_000), 400],
  ])("%s: refused before it is parsed, and no store is asked", async (_, body, code) => {
    const { env, calls } = fakeEnv({ other: () => 1 });
    const response = await send("http://h/revisions", { method: "POST", headers: { "Content-Type": "application/json" }, body }, env);
    const { message } = (await response.json()) as { message: string };
    expect([response.status, message]).toEqual([code, code === 413 ? "Request entity too large: limit is 65536" : "exceeded max depth"]);
    expect(calls.filter(({ method }) => method === "beginAbove")).toEqual([]);
  });

  it("a store without revisions left: 400 with its name; a store that does not answer: 503; another method: 405", async () => {
    const full = await ask({ asOf: AS_OF, resources: ["services"] }, { other: () => null });
    expect([full.code, full.body.message]).toEqual([400, "services: there are no revisions above those that clients can have seen"]);
    const lost = await ask({ asOf: AS_OF }, { other: () => Promise.reject(new Error("Network connection lost")) });
    expect(lost.code).toBe(503);
    const read = await ask(undefined, { method: "GET" });
    expect([read.code, read.begun.size]).toEqual([405, 0]);
  });
});
