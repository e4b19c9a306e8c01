import { describe, expect, it } from "vitest";
import { systemDigest, systemRandom } from "../../../../durable-objects/platform/ports";
import { parseToken } from "../../../../src/access/authentication/bearer-token";
import { GRACE_MAX_MS, TokenBook } from "../../../../src/access/authentication/token-book";
import type { NewToken } from "../../../../src/access/authentication/token-record";
import { memoryCredentialStorage } from "../../../support/memory/credential-storage";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ALICE: NewToken = { user: "alice", groups: ["dev"], clusters: ["team"], description: "laptop" };

class World {
  now = 100 * DAY;
  readonly storage = memoryCredentialStorage();
  readonly book: TokenBook;

  constructor(max?: number) {
    this.book = new TokenBook({ storage: this.storage, clock: { now: () => this.now }, random: systemRandom(), digest: systemDigest }, max);
  }

  async created(asked: Partial<NewToken> = {}): Promise<{ token: string; id: string }> {
    const made = await this.book.create({ ...ALICE, ...asked });
    if (!made.ok) throw new Error(JSON.stringify(made.error));
    return { token: made.value.token, id: made.value.record.id };
  }

  async rotated(id: string, graceMs?: number): Promise<string> {
    const made = await this.book.rotate(id, graceMs);
    if (!made.ok) throw new Error(made.error);
    return made.value.token;
  }

  /** "good" or what is wrong. */
  async judged(token: string): Promise<string> {
    const { id = "", secret = "" } = parseToken(token) ?? {};
    const verified = await this.book.verify(id, secret);
    return verified.ok ? "good" : verified.error;
  }
}

describe("creation of a token", () => {
  it("a new token: is good for its user, groups and clusters", async () => {
    const world = new World();
    const { token } = await world.created({ expiresAt: world.now + HOUR });
    const { id = "", secret = "" } = parseToken(token) ?? {};
    expect(await world.book.verify(id, secret)).toEqual({
      ok: true,
      value: { user: "alice", groups: ["dev"], clusters: ["team"], goodUntil: world.now + HOUR },
    });
  });

  it("a token of an agent with limits: has them, after a rotation, too", async () => {
    const world = new World();
    const limits = { agentNamespaces: ["a"], agentLabels: ["app=web", "tier"] };
    const { id } = await world.created({ user: "servicenet:agent:n1", groups: ["servicenet:agents"], ...limits });
    const { secret = "" } = parseToken(await world.rotated(id)) ?? {};
    expect(await world.book.verify(id, secret)).toMatchObject({ ok: true, value: limits });
    expect(world.book.list()).toMatchObject([limits]);
  });

  it("a list: has neither secrets nor hashes", async () => {
    const world = new World();
    const { token, id } = await world.created();
    const { hash } = world.storage.tokenLoad(id) ?? {};
    const text = JSON.stringify(world.book.list());
    expect(text).toContain(id);
    for (const hidden of [parseToken(token)?.secret, hash?.salt, hash?.sha256]) expect(text).not.toContain(hidden);
  });

  it.each<[what: string, asked: Partial<NewToken>, fields: string[]]>([
    ["no user", { user: "" }, ["user"]],
    ["the anonymous user", { user: "system:anonymous" }, ["user"]],
    ["a service account", { user: "system:serviceaccount:default:web" }, ["user"]],
    ["a node without a name", { user: "system:node:" }, ["user"]],
    ["an agent without a name", { user: "servicenet:agent:" }, ["user"]],
    ["a node", { user: "system:node:n1", groups: ["system:nodes"] }, []],
    ["an agent", { user: "servicenet:agent:n1", groups: ["servicenet:agents"] }, []],
    [
      "an agent of some namespaces and labels",
      { user: "servicenet:agent:n1", groups: ["servicenet:agents"], agentNamespaces: ["a"], agentLabels: ["app=web"] },
      [],
    ],
    ["an agent of no namespace", { user: "servicenet:agent:n1", agentNamespaces: [] }, ["agentNamespaces"]],
    ["limits of an agent for somebody else", { agentNamespaces: ["a"], agentLabels: ["app"] }, ["agentNamespaces", "agentLabels"]],
    ["the group of masters", { groups: ["system:masters"] }, []],
    ["the group of nobody", { groups: ["system:unauthenticated"] }, ["groups[0]"]],
    ["groups of service accounts", { groups: ["a", "system:serviceaccounts", "system:serviceaccounts:x"] }, ["groups[1]", "groups[2]"]],
    ["an empty group", { groups: [""] }, ["groups[0]"]],
    ["a line end in its user", { user: "a\nb" }, ["user"]],
    ["a long user", { user: "a".repeat(257) }, ["user"]],
    ["too many groups", { groups: Array.from({ length: 65 }, (_, i) => `g${i}`) }, ["groups"]],
    ["no cluster in its list", { clusters: [] }, ["clusters"]],
    ["all clusters", { clusters: undefined }, []],
    ["a cluster of another form", { clusters: ["team", "A/b"] }, ["clusters[1]"]],
    ["an end in the past", { expiresAt: 1 }, ["expiresAt"]],
    ["an end that is no number", { expiresAt: Number.NaN }, ["expiresAt"]],
    ["an escape sequence in its description", { description: "\u001b[31m" }, ["description"]],
    ["several faults", { user: "", groups: [""] }, ["user", "groups[0]"]],
  ])("a token for %s: is made, or refused with every fault", async (_, asked, fields) => {
    const made = await new World().book.create({ ...ALICE, ...asked });
    const found = made.ok ? [] : made.error.reason === "invalid" ? made.error.errors.map(({ field }) => field) : ["full"];
    expect(found).toEqual(fields);
  });
});

describe("number of tokens", () => {
  it("beyond the bound: creation is refused, and nothing is lost", async () => {
    const world = new World(2);
    const tokens = [await world.created(), await world.created()];
    expect(await world.book.create(ALICE)).toEqual({ ok: false, error: { reason: "full", max: 2 } });
    for (const { token } of tokens) expect(await world.judged(token)).toBe("good");
  });

  it("at the bound: tokens that are over make room", async () => {
    const world = new World(3);
    const kept = await world.created();
    const revoked = await world.created();
    const expiring = await world.created({ expiresAt: world.now + HOUR });
    world.book.revoke(revoked.id);
    world.now += HOUR;
    await world.created();
    expect(await Promise.all([kept, revoked, expiring].map(({ token }) => world.judged(token)))).toEqual(["good", "unknown", "unknown"]);
  });
});

describe("end of a token", () => {
  it("an expired token: is refused from its end on", async () => {
    const world = new World();
    const { token } = await world.created({ expiresAt: world.now + HOUR });
    world.now += HOUR - 1;
    expect(await world.judged(token)).toBe("good");
    world.now++;
    expect(await world.judged(token)).toBe("expired");
  });

  it("a revoked token: is refused at once, and stays so", async () => {
    const world = new World();
    const { token, id } = await world.created();
    const first = world.book.revoke(id);
    expect(await world.judged(token)).toBe("revoked");
    world.now += HOUR;
    expect(world.book.revoke(id)).toEqual(first);
    expect(await world.book.rotate(id)).toEqual({ ok: false, error: "revoked" });
    expect(world.book.revoke("0".repeat(20))).toEqual({ ok: false, error: "unknown" });
  });

  it("a wrong secret: says nothing about the token", async () => {
    const world = new World();
    const { id } = await world.created();
    world.book.revoke(id);
    expect(await world.book.verify(id, "A".repeat(43))).toEqual({ ok: false, error: "unknown" });
  });
});

describe("rotation of a token", () => {
  it("without grace: the old secret is unknown at once", async () => {
    const world = new World();
    const { token, id } = await world.created();
    const fresh = await world.rotated(id);
    expect([await world.judged(token), await world.judged(fresh)]).toEqual(["unknown", "good"]);
  });

  it("with grace: both secrets are good until its end, and the old one says when that is", async () => {
    const world = new World();
    const { token, id } = await world.created();
    const fresh = await world.rotated(id, HOUR);
    expect([await world.judged(token), await world.judged(fresh)]).toEqual(["good", "good"]);
    const verified = await world.book.verify(id, parseToken(token)?.secret ?? "");
    expect(verified.ok && verified.value.goodUntil).toBe(world.now + HOUR);
    world.now += HOUR;
    expect([await world.judged(token), await world.judged(fresh)]).toEqual(["unknown", "good"]);
  });

  it("twice with grace: only the last two secrets are good", async () => {
    const world = new World();
    const { token, id } = await world.created();
    const second = await world.rotated(id, HOUR);
    const third = await world.rotated(id, HOUR);
    expect(await Promise.all([token, second, third].map((one) => world.judged(one)))).toEqual(["unknown", "good", "good"]);
  });

  it("a grace beyond a week: ends after a week", async () => {
    const world = new World();
    const { token, id } = await world.created();
    await world.rotated(id, 10 * GRACE_MAX_MS);
    world.now += GRACE_MAX_MS;
    expect(await world.judged(token)).toBe("unknown");
  });

  it("revocation during the grace: ends both secrets", async () => {
    const world = new World();
    const { token, id } = await world.created();
    const fresh = await world.rotated(id, HOUR);
    world.book.revoke(id);
    expect([await world.judged(token), await world.judged(fresh)]).toEqual(["unknown", "revoked"]);
  });

  it("a revocation that comes while a secret is compared: counts", async () => {
    const world = new World();
    const { token, id } = await world.created();
    const judged = world.judged(token);
    world.book.revoke(id);
    expect(await judged).toBe("revoked");
  });

  it("an unknown token: has no secret to change", async () => {
    expect(await new World().book.rotate("0".repeat(20))).toEqual({ ok: false, error: "unknown" });
  });
});

it("use of a token: its day is noted once a day", async () => {
  const world = new World();
  const { token, id } = await world.created();
  let saves = 0;
  const save = world.storage.tokenSave;
  world.storage.tokenSave = (row) => {
    saves++;
    save(row);
  };
  for (const hours of [0, 1, 22]) {
    world.now += hours * HOUR;
    await world.judged(token);
  }
  expect([saves, world.book.list()[0]?.lastUsedDay]).toEqual([1, 100]);
  world.now += HOUR;
  await world.judged(token);
  expect([saves, world.storage.tokenLoad(id)?.record.lastUsedDay]).toEqual([2, 101]);
});
