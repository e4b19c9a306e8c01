/** The ranges for consumers, as docs/ranges.md describes them, against the started server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import type { FollowedRanges } from "../../../src/clients/ranges/follow-ranges";
import type { RangesView } from "../../../src/addresses/ranges/service-ranges";
import { clientFetch, followZones, plainFetch } from "../../support/examples/zones";
import { getJson } from "../../support/server/server";
import { clusterForTests } from "../../support/server/cluster-for-tests";
import { root } from "../../../scripts/running/root.mjs";

const CIDRS = "/apis/networking.k8s.io/v1/servicecidrs";
const own = clusterForTests();

async function send(method: string, url: string, body?: object): Promise<number> {
  const headers = { "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
  return (await fetch(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })).status;
}
const create = (cluster: string, name: string, ...cidrs: string[]) =>
  send("POST", cluster + CIDRS, { metadata: { name }, spec: { cidrs } });
const view = (cluster: string) => getJson<RangesView>(`${cluster}/ranges`);
const prefixes = ({ ready, serving }: Pick<RangesView, "ready" | "serving">) =>
  [ready, serving].map(({ IPv4, IPv6 }) => [...IPv4.prefixes, ...IPv6.prefixes].join(" "));

it("answer in docs/ranges.md: has the members of a real one", async () => {
  const page = readFileSync(join(root, "docs", "ranges.md"), "utf8");
  const shown = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "") as RangesView;
  expect(Object.keys(await view(own.url))).toEqual(Object.keys(shown));
});

describe("a cluster's ranges", () => {
  it.each([
    ["plain fetch", () => `${own.origin}/clusters/plain`, (url: string) => plainFetch(url)],
    [
      "the official client",
      () => `${own.origin}/clusters/official`,
      (url: string) => {
        const config = new KubeConfig();
        config.loadFromFile(own.kubeconfig);
        const [cluster] = config.clusters;
        if (cluster) Object.assign(cluster, { server: url });
        return clientFetch(config);
      },
    ],
  ])("ranges followed by %s: show additions, merges and deletions", async (_, url, fetchOf) => {
    const cluster = url();
    expect(await send("PUT", cluster)).toBe(201);
    const told: FollowedRanges[] = [];
    let zones: string[] = [];
    const stop = followZones(fetchOf(cluster), (now, ranges) => {
      zones = now;
      told.push(ranges);
    });
    const last = () => prefixes(told.at(-1) ?? { ready: EMPTY, serving: EMPTY });
    await expect.poll(last, { timeout: 20_000 }).toEqual(["10.96.0.0/16", "10.96.0.0/16"]);

    expect(await create(cluster, "next", "10.97.0.0/16", "fd00:97::/64")).toBe(201);
    const both = "10.96.0.0/15 fd00:97::/64";
    await expect.poll(last, { timeout: 20_000 }).toEqual([both, both]);
    expect(zones).toEqual(["96.10.in-addr.arpa", "97.10.in-addr.arpa", "0.0.0.0.0.0.0.0.7.9.0.0.0.0.d.f.ip6.arpa"]);
    const answered = await view(cluster);
    expect(prefixes(answered)).toEqual([both, both]);
    expect(answered.epoch).toBeGreaterThanOrEqual(told.at(-1)?.epoch ?? Infinity);
    expect(Number(answered.resourceVersion)).toBeGreaterThanOrEqual(Number(told.at(-1)?.resourceVersion));

    // One that is being deleted while an address of it is in use serves on.
    const services = `${cluster}/api/v1/namespaces/default/services`;
    expect(await send("POST", services, { metadata: { name: "a" }, spec: { clusterIP: "10.97.0.9", ports: [{ port: 80 }] } })).toBe(201);
    expect(await send("DELETE", `${cluster}${CIDRS}/next`)).toBe(200);
    await expect.poll(last, { timeout: 20_000 }).toEqual(["10.96.0.0/16", both]);
    expect(prefixes(await view(cluster))).toEqual(["10.96.0.0/16", both]);

    // Removed by force it is orphaned, and still serves.
    expect(await send("PATCH", `${cluster}${CIDRS}/next`, { metadata: { finalizers: null } })).toBe(200);
    await expect.poll(() => told.at(-1)?.orphaned, { timeout: 20_000 }).toContain("10.97.0.0/16");
    expect((await view(cluster)).orphaned).toContain("10.97.0.0/16");
    expect(zones).toContain("97.10.in-addr.arpa");

    // With its last address it goes, of which no ServiceCIDR tells.
    expect(await send("DELETE", `${services}/a`)).toBe(200);
    await expect.poll(() => send("GET", `${services}/a`), { timeout: 20_000 }).toBe(404);
    await expect.poll(last, { timeout: 40_000, interval: 200 }).toEqual(["10.96.0.0/16", "10.96.0.0/16"]);
    expect(told.at(-1)?.orphaned).toEqual([]);
    stop();
  });
});

const EMPTY = { IPv4: { prefixes: [], zones: [] }, IPv6: { prefixes: [], zones: [] } };
