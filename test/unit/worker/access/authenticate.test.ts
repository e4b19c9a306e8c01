import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import type { BearerToken } from "../../../../src/access/authentication/bearer-token";
import { API_AUDIENCE } from "../../../../src/access/authentication/service-account-claims";
import { authenticate, reviewToken } from "../../../../src/worker/access/authenticate";

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const forged = (cluster: string) => {
  const iss = `https://kubernetes.default.svc/clusters/${cluster}`;
  return `${base64({ alg: "ES256", kid: "k" })}.${base64({ iss, aud: "x" })}.AAAA`;
};
const ownToken = (i: number) => `sn_${String(i).padStart(20, "0")}_${"A".repeat(43)}`;
/** Of a token that nobody has. */
const ADMIN_TOKEN_HASHES = `${"0".repeat(20)}:${"1".repeat(32)}:${"2".repeat(64)}`;
const FLOOD = 3_000;
const VALID = FLOOD / 2;

/** Objects whose answers take a turn: the list of clusters, records, and tokens, of which one is good. Each call is noted with what it asks for. */
function world({ made = [] as string[] } = {}) {
  const calls: string[] = [];
  const later = <T>(value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), 1));
  const object = (methods: object) => ({ idFromName: (name: string) => name, get: () => methods });
  const verified = ({ id }: BearerToken) =>
    id === String(VALID).padStart(20, "0") ? { ok: true, value: { user: "bob", groups: [] } } : { ok: false, error: "unknown" };
  const env = {
    ADMIN_TOKEN_HASHES,
    CLUSTER_NAMES: object({
      areMade: (names: string[]) => (calls.push(`names ${String(names.length)}`), later(names.map((name) => made.includes(name)))),
    }),
    CLUSTER_RECORD: object({ look: () => (calls.push("record"), later({ phase: "absent" })) }),
    CREDENTIAL_STORE: object({
      verifyTokens: (tokens: BearerToken[]) => (calls.push(`tokens ${String(tokens.length)}`), later(tokens.map(verified))),
    }),
  } as unknown as Env;
  const ask = async (token: string, cluster: string) => {
    const known = await authenticate(env, new Headers({ Authorization: `Bearer ${token}` }), cluster, { beside: () => undefined });
    return known.ok ? (known.value?.user.name ?? "nobody") : known.error.code;
  };
  return { calls, ask };
}

const times = <T>(count: number, what: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => what(i));

describe("a forged token of a service account", () => {
  it("for another cluster than that of the request: 401, and no object is asked", async () => {
    const { calls, ask } = world();
    for (const issued of ["blue", "default", "blue~2/x", ""]) expect(await ask(forged(issued), `red-${issued.length}`), issued).toBe(401);
    expect(calls).toEqual([]);
  });

  it(`for ${String(FLOOD)} clusters that nobody made, at once: 401, few calls to the list of clusters, and no record is asked`, async () => {
    const { calls, ask } = world();
    const codes = await Promise.all(times(FLOOD, (i) => ask(forged(`flood-${String(i)}`), `flood-${String(i)}`)));
    expect(new Set(codes)).toEqual(new Set([401]));
    expect([calls.length <= 5, calls.filter((call) => !call.startsWith("names"))]).toEqual([true, []]);
  });

  it("for a cluster that was deleted, many at once: its record is asked a few times", async () => {
    const { calls, ask } = world({ made: ["gone"] });
    const codes = await Promise.all(times(FLOOD, (i) => ask(`${forged("gone")}${"A".repeat(i)}`, "gone")));
    expect(new Set(codes)).toEqual(new Set([401]));
    expect(calls.filter((call) => call === "record").length).toBeLessThanOrEqual(5);
  });
});

it(`a good token among ${String(FLOOD)} made-up ones: is known, no one is refused for their number, and they cost few calls`, async () => {
  const { calls, ask } = world();
  const codes = await Promise.all(times(FLOOD, (i) => ask(ownToken(i), "blue")));
  expect(codes.map((code, i) => (code === (i === VALID ? "bob" : 401) ? "" : `${String(i)}: ${code}`)).join("")).toBe("");
  expect(calls.length).toBeLessThanOrEqual(5);
});

it("an object of an older release, which checks one token at a time: is asked for each", async () => {
  const verifyToken = () => Promise.resolve({ ok: true, value: { user: "bob", groups: [] } });
  const verifyTokens = () => Promise.reject(new TypeError('The RPC receiver does not implement the method "verifyTokens".'));
  const CREDENTIAL_STORE = { idFromName: (name: string) => name, get: () => ({ verifyToken, verifyTokens }) };
  const env = { CREDENTIAL_STORE } as unknown as Env;
  const known = await authenticate(env, new Headers({ Authorization: `Bearer ${ownToken(1)}` }), "blue", { beside: () => undefined });
  expect(known).toMatchObject({ ok: true, value: { user: { name: "bob" } } });
});

it("what does not depend on the sender: begins while an own token is asked for, not for one that is known or is none", async () => {
  const told: string[] = [];
  const verifyTokens = async () => {
    await Promise.resolve();
    told.push("answer");
    return [{ ok: true, value: { user: "bob", groups: [] } }];
  };
  const CREDENTIAL_STORE = { idFromName: (name: string) => name, get: () => ({ verifyTokens }) };
  const env = { ADMIN_TOKEN_HASHES, CREDENTIAL_STORE } as unknown as Env;
  const meanwhile = (): void => void told.push("meanwhile");
  for (const token of [ownToken(1), ownToken(1), "sn_none", forged("red")])
    await authenticate(env, new Headers({ Authorization: `Bearer ${token}` }), "blue", { beside: () => undefined, meanwhile });
  expect(told).toEqual(["meanwhile", "answer"]);
});

describe("a token in a TokenReview", () => {
  const review = (verifyTokens: (tokens: BearerToken[]) => Promise<unknown>, audiences: string[] = []) => {
    const CREDENTIAL_STORE = { idFromName: (name: string) => name, get: () => ({ verifyTokens }) };
    const env = { ADMIN_TOKEN_HASHES, CREDENTIAL_STORE } as unknown as Env;
    return reviewToken({ env, beside: () => undefined }, "blue", ownToken(1), audiences);
  };
  const known = (clusters?: string[]) => () => Promise.resolve([{ ok: true, value: { user: "bob", groups: [], clusters } }]);
  const NOBODY = { ok: false, error: "invalid bearer token" };

  it("of this API, where the review names nobody: is known", async () => {
    expect(await review(known())).toMatchObject({ ok: true, value: { user: { name: "bob" }, audiences: [API_AUDIENCE] } });
    expect(await review(known(["blue"]))).toMatchObject({ ok: true, value: { user: { name: "bob" } } });
  });

  it.each<[string, () => ReturnType<typeof review>]>([
    ["of other clusters", () => review(known(["red"]))],
    ["for somebody else", () => review(known(), ["vault"])],
    ["that nobody made", () => review(() => Promise.resolve([{ ok: false, error: "unknown" }]))],
  ])("%s: is nobody's", async (_, answer) => {
    expect(await answer()).toEqual(NOBODY);
  });

  it("while its object does not answer: is not judged", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const answer = await review(() => Promise.reject(new Error("Network connection lost.")));
    vi.restoreAllMocks();
    expect(answer).toEqual({ ok: false, error: "the token could not be checked" });
  });
});
