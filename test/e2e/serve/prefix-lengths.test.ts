/** ServiceCIDRs of every kind of length, the extremes of both families included: Ready, giving out addresses, and deleted again. */
import { describe, expect, it } from "vitest";
import { parseAddress, formatAddress } from "../../../src/core/net/address";
import { containsAddress } from "../../../src/core/net/prefix";
import { usableOf, usableSizeOf } from "../../../src/core/net/usable";
import { prefixOf } from "../../model/prefix-of";
import { Api, MERGE_PATCH } from "../../support/clients/api";
import { clusterForTests, DUAL_STACK } from "../../support/server/cluster-for-tests";

const DRAWS = 5;
const RANGES = "/apis/networking.k8s.io/v1/servicecidrs";
const SERVICES = "/api/v1/namespaces/default/services";

const cluster = clusterForTests({ args: DUAL_STACK });

const isReady = (status: unknown): boolean =>
  ((status as { conditions?: { status: string }[] } | undefined)?.conditions ?? []).some((condition) => condition.status === "True");

describe.concurrent("a ServiceCIDR", () => {
  it.each([
    ...["0.0.0.0/0", "10.0.0.0/8", "192.0.2.0/28", "192.0.2.0/30", "192.0.2.1/32"],
    ...["::/0", "2001:db8::/63", "2001:db8::/64", "2001:db8::/124", "2001:db8::/127", "2001:db8::1/128"],
  ])("%s: gives out its usable addresses, and no others", async (cidr) => {
    const prefix = prefixOf(cidr);
    const api = new Api(() => `${cluster.origin}/clusters/length-${prefix.family.toLowerCase()}-${String(prefix.length)}`);
    await api.must("POST", RANGES, { body: { metadata: { name: "only" }, spec: { cidrs: [cidr] } } });
    await api.until(async () => isReady((await api.must("GET", `${RANGES}/only`)).status), "the ServiceCIDR is Ready");
    // The default ranges give out nothing, until the end.
    const setDefault = async (status: "True" | "False"): Promise<void> => {
      const condition = { type: "Ready", status, reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
      expect((await api.patch(`${RANGES}/kubernetes/status`, MERGE_PATCH, { status: { conditions: [condition] } })).code).toBe(200);
    };
    await setDefault("False");
    const create = (name: string, clusterIP?: string) => {
      const spec = { ports: [{ port: 80 }], ipFamilies: [prefix.family], clusterIP };
      return api.send("POST", SERVICES, { body: { metadata: { name, labels: { test: "length" } }, spec } });
    };

    const usable = usableOf(prefix);
    const edges = usable ? [...new Set([usable.first, usable.last])].map((value) => formatAddress(prefix.family, value)) : [];
    for (const [i, address] of edges.entries()) {
      const { code, body } = await create(`edge-${String(i)}`, address);
      expect([code, body.spec?.["clusterIP"] ?? body.message]).toEqual([201, address]);
    }
    const refused = await create("network", formatAddress(prefix.family, prefix.base));
    expect([refused.code, refused.body.message]).toEqual([
      422,
      expect.stringContaining("the provided network does not match the current range"),
    ]);

    const left = usableSizeOf(prefix) - BigInt(edges.length);
    const given: string[] = [];
    for (let i = 0; i < DRAWS; i++) {
      const { code, body } = await create(`any-${String(i)}`);
      if (code === 201) given.push(String(body.spec?.["clusterIP"]));
      else expect([code, body.message]).toEqual([500, expect.stringMatching(/range is full|no ServiceCIDR/)]);
    }
    expect(given.length).toBe(Math.min(DRAWS, Number(left)));
    expect(new Set([...given, ...edges]).size).toBe(given.length + edges.length);
    for (const text of given) {
      const parsed = parseAddress(text);
      expect([text, parsed.ok && containsAddress(prefix, parsed.value.family, parsed.value.value)]).toEqual([text, true]);
    }

    await setDefault("True");
    await api.must("DELETE", SERVICES, { query: { labelSelector: "test=length" } });
    await api.must("DELETE", `${RANGES}/only`);
    await api.until(async () => (await api.get(`${RANGES}/only`)).code === 404, "the ServiceCIDR is gone");
  });
});
