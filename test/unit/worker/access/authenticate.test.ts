import { describe, expect, it } from "vitest";
import type { Env } from "../../../../durable-objects/env";
import { authenticate } from "../../../../src/worker/access/authenticate";

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const forged = (cluster: string) => {
  const iss = `https://kubernetes.default.svc/clusters/${cluster}`;
  return `${base64({ alg: "ES256", kid: "k" })}.${base64({ iss, aud: "x" })}.AAAA`;
};

/** How often the records of clusters were asked. */
function world() {
  const asked: string[] = [];
  let answer: (state: object) => void = () => undefined;
  const answered = new Promise<object>((resolve) => (answer = resolve));
  const look = (name: string) => () => {
    asked.push(name);
    return answered;
  };
  const CLUSTER_RECORD = { idFromName: (name: string) => name, get: (name: string) => ({ look: look(name) }) };
  const env = { ADMIN_TOKEN_HASHES: `${"0".repeat(20)}:${"1".repeat(32)}:${"2".repeat(64)}`, CLUSTER_RECORD } as unknown as Env;
  const ask = async (token: string, cluster: string) => {
    const known = await authenticate(env, new Headers({ Authorization: `Bearer ${token}` }), cluster);
    return known.ok ? "known" : known.error.code;
  };
  return { asked, ask, end: () => answer({ phase: "absent" }) };
}

describe("a forged token of a service account", () => {
  it("for another cluster than that of the request: 401, and no record is asked", async () => {
    const { asked, ask } = world();
    for (const issued of ["blue", "default", "blue~2/x", ""]) expect(await ask(forged(issued), `red-${issued.length}`), issued).toBe(401);
    expect(asked).toEqual([]);
  });

  it("for clusters that nobody knows: few records are asked at once, and the others are 503", async () => {
    const { asked, ask, end } = world();
    const codes = Array.from({ length: 60 }, (_, i) => ask(forged(`flood-${String(i)}`), `flood-${String(i)}`));
    await new Promise((resolve) => setTimeout(resolve, 100));
    end();
    const told = await Promise.all(codes);
    expect([asked.length, told.filter((code) => code === 401).length, told.filter((code) => code === 503).length]).toEqual([50, 50, 10]);
  });
});
