/** Refusals of requests with bodies, each of which leaves its connection usable. */
import { describe, expect, it } from "vitest";
import { inFlight } from "../server/metric";
import { serverForTests, type TestServer } from "../server/server-for-tests";
import { Api } from "./api";
import { type Body, KeptConnection, type RawRequest } from "./kept-connection";

export const SERVICES = "/api/v1/namespaces/default/services";
export const JSON_TYPE = { "Content-Type": "application/json" };
const ALIVE: RawRequest = { method: "GET", path: "/livez" };

export type NamedBody = readonly [what: string, body: Body];

export const FRAMINGS = ["announced", "chunked"] as const;

export const bytes = (length: number) => new Uint8Array(length).fill("x".charCodeAt(0));

interface Refusal {
  what: string;
  code: number;
  request: RawRequest;
}

const REFUSALS: Refusal[] = [
  { what: "an unknown path", code: 404, request: { method: "POST", path: "/nothing", headers: JSON_TYPE } },
  { what: "an unknown group", code: 404, request: { method: "POST", path: "/apis/example.com/v1/widgets", headers: JSON_TYPE } },
  { what: "an unknown resource", code: 404, request: { method: "POST", path: "/api/v1/namespaces/default/widgets", headers: JSON_TYPE } },
  {
    what: "a resource whose gate is off",
    code: 404,
    request: { method: "POST", path: "/apis/networking.k8s.io/v1/servicecidrs", headers: JSON_TYPE },
  },
  {
    what: "a cluster that is not there",
    code: 404,
    request: { method: "DELETE", path: `/clusters/nowhere${SERVICES}/a`, headers: JSON_TYPE },
  },
  { what: "a name in a create", code: 405, request: { method: "POST", path: `${SERVICES}/a`, headers: JSON_TYPE } },
  { what: "a method of no resource", code: 405, request: { method: "OPTIONS", path: SERVICES, headers: JSON_TYPE } },
  { what: "a write of discovery", code: 405, request: { method: "POST", path: "/api", headers: JSON_TYPE } },
  { what: "an unreadable timeout", code: 400, request: { method: "POST", path: `${SERVICES}?timeout=soon`, headers: JSON_TYPE } },
  { what: "a bad encoding of the path", code: 400, request: { method: "POST", path: `${SERVICES}/%zz`, headers: JSON_TYPE } },
  { what: "an unreadable dryRun", code: 422, request: { method: "POST", path: `${SERVICES}?dryRun=maybe`, headers: JSON_TYPE } },
  {
    what: "an Accept that is not served",
    code: 406,
    request: { method: "POST", path: SERVICES, headers: { ...JSON_TYPE, Accept: "text/html" } },
  },
  { what: "an unknown content type", code: 415, request: { method: "POST", path: SERVICES, headers: { "Content-Type": "text/plain" } } },
  { what: "an unknown patch type", code: 415, request: { method: "PATCH", path: `${SERVICES}/kubernetes`, headers: JSON_TYPE } },
  { what: "a page of another site", code: 403, request: { method: "POST", path: SERVICES, headers: { Origin: "https://example.com" } } },
  { what: "a host that is not served", code: 403, request: { method: "POST", path: SERVICES, headers: { Host: "example.com" } } },
  { what: "a malformed target", code: 400, request: { method: "POST", path: "services" } },
  { what: "a malformed host", code: 400, request: { method: "POST", path: SERVICES, headers: { Host: "a b" } } },
  { what: "a body that nobody reads", code: 200, request: { method: "GET", path: SERVICES, headers: JSON_TYPE } },
];

/** Two refusals on one connection, and a request that is served: the codes, or why there are none. */
async function refusedTwice({ url, ca }: Pick<TestServer, "url" | "ca">, request: RawRequest, body: Body): Promise<string> {
  const connection = await KeptConnection.open(url, ca || undefined);
  try {
    const codes: number[] = [];
    for (const sent of [{ ...request, body }, { ...request, body }, ALIVE]) codes.push((await connection.send(sent)).code);
    return codes.join(" ");
  } catch (error) {
    return String(error);
  } finally {
    connection.close();
  }
}

/** The connection outlives the refusal with every body, all of them at once. */
export async function expectKept(
  { code, request }: Omit<Refusal, "what">,
  bodies: readonly NamedBody[],
  by: Pick<TestServer, "url" | "ca">,
): Promise<void> {
  const outcomes = await Promise.all(bodies.map(async ([what, body]) => [what, await refusedTwice(by, request, body)]));
  expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(bodies.map(([what]) => [what, `${code} ${code} 200`])));
}

/** Tests of each kind of refusal, on servers of their own, with these bodies. */
export function refusedWith(bodies: readonly NamedBody[]): { server: TestServer } {
  const server = serverForTests(["--var", "FEATURE_GATES=MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false"]);

  describe("the connection of a refused request", () => {
    it.each(REFUSALS)("$what ($code): serves the next request", (refusal) => expectKept(refusal, bodies, server));
  });

  describe("the connection of a request for which there is no place", () => {
    const narrow = serverForTests(
      ["MAX_MUTATING_REQUESTS_INFLIGHT=1", "REQUEST_QUEUE_SECONDS=0", "FAIR_REQUESTS_MIN=0"].flatMap((text) => ["--var", text]),
    );
    const api = new Api(() => narrow.url);
    /** It never ends in the time of a test, and never rests: a body that does gives its place back. */
    const trickle: Body = { framing: "chunked", bytes: bytes(1_000), pieces: 1_000, pauseMs: 200 };

    it("too many requests in flight (429): serves the next request", async () => {
      const holder = await KeptConnection.open(narrow.url);
      const request = { method: "POST", path: SERVICES, headers: JSON_TYPE };
      const never = expect(holder.send({ ...request, body: trickle })).rejects.toThrow("the connection ended");
      try {
        await api.until(async () => (await inFlight(api))["mutating"] === 1, "the only place is taken");
        await expectKept({ code: 429, request }, bodies, narrow);
      } finally {
        holder.close();
        await never;
      }
      await api.until(async () => (await inFlight(api))["mutating"] === 0, "the place is free again");
    });
  });

  describe("the connection of a request that access refuses", () => {
    const guarded = serverForTests([], { secure: true });
    const create = (headers: RawRequest["headers"]): RawRequest => ({
      method: "POST",
      path: SERVICES,
      headers: { ...JSON_TYPE, ...headers },
    });

    it("without a credential (401): serves the next request", () => expectKept({ code: 401, request: create({}) }, bodies, guarded));

    it("a wrong token (401): serves the next request", () =>
      expectKept({ code: 401, request: create({ Authorization: "Bearer wrong" }) }, bodies, guarded));

    it("a user without the right (403): serves the next request", () =>
      expectKept({ code: 403, request: create({ Authorization: `Bearer ${guarded.token}`, "Impersonate-User": "ann" }) }, bodies, guarded));
  });

  return { server };
}
