/** The identity Lease of a running server: it announces itself, also when nobody asks anything. */
import { expect, it } from "vitest";
import type { Lease } from "../../../src/api/meta/kubernetes";
import { upstreamRow } from "../../conformance/upstream-row";
import { Api, type Body } from "../../support/clients/api";
import { serverForTests } from "../../support/server/server-for-tests";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const IDENTITY = { labelSelector: "apiserver.kubernetes.io/identity=kube-apiserver" };
/** Of node-1, from upstream. */
const NAME = "apiserver-lgabes5ywnaqeagh5dny4zlzs4";

const server = serverForTests(["--var", "HOST_NAME=node-1", "--var", "APISERVER_LEASE_RENEW_SECONDS=1"]);
const api = new Api(() => server.url);
const leases = async (cluster = ""): Promise<Body[]> => (await api.must("GET", `${cluster}${LEASES}`, { query: IDENTITY })).items ?? [];

upstreamRow("apiserver_identity_test: TestCreateLeaseOnStart", () => {
  it("idle: has one Lease with upstream's name and labels, and renews it by itself in each interval", async () => {
    await expect.poll(leases).toHaveLength(1);
    const [lease] = await leases();
    expect(lease?.metadata).toMatchObject({
      name: NAME,
      labels: {
        "apiserver.kubernetes.io/identity": "kube-apiserver",
        "k8s.io/component": "kube-apiserver",
        "kubernetes.io/hostname": "node-1",
      },
    });
    expect(lease?.spec).toMatchObject({ leaseDurationSeconds: 3600, leaseTransitions: 0, acquireTime: expect.any(String) });
    expect(lease?.spec?.["holderIdentity"]).toMatch(new RegExp(`^${NAME}_[0-9a-f-]{36}$`));
    // One request, and then none: what comes is the server's own doing.
    const watch = await api.watch(LEASES, { ...IDENTITY, resourceVersion: lease?.metadata?.resourceVersion ?? "" });
    const renewed = (await watch.take(5)).map(({ type, object }) => ({ type, spec: (object as Lease).spec }));
    watch.close();
    expect(renewed.map(({ type }) => type)).toEqual(Array(5).fill("MODIFIED"));
    const times = [lease?.spec?.["renewTime"], ...renewed.map(({ spec }) => spec?.renewTime)].map(String);
    expect(times).toEqual([...new Set(times)].sort());
    for (const { spec } of renewed) expect({ ...spec, renewTime: undefined }).toEqual({ ...lease?.spec, renewTime: undefined });
  });
});

it("another cluster: has the Lease once somebody has asked something there", async () => {
  await api.must("PUT", "/clusters/blue");
  await expect.poll(() => leases("/clusters/blue")).toHaveLength(1);
  expect((await leases("/clusters/blue"))[0]?.metadata?.name).toBe(NAME);
});

it("someone else's edit and deletion: allowed, and the Lease comes back by itself", async () => {
  const path = `${LEASES}/${NAME}`;
  await api.must("DELETE", path);
  await expect.poll(async () => (await api.get(path)).code).toBe(200);
  const bad = await api.patch(path, "application/merge-patch+json", { spec: { leaseDurationSeconds: 0 } });
  expect([bad.code, bad.body.reason]).toEqual([422, "Invalid"]);
  await api.must("PATCH", path, { body: { metadata: { labels: null } }, headers: { "Content-Type": "application/merge-patch+json" } });
  await expect.poll(leases).toHaveLength(1);
});

it("/readyz?verbose: all checks of the start have passed, and the living instance has a line behind them", async () => {
  const { code, text } = await api.get("/readyz?verbose");
  expect([code, text.split("\n").slice(0, -1)]).toEqual([
    200,
    [
      "[+]ping ok",
      "[+]config ok",
      "[+]coordinator ok",
      "[+]scheduled-jobs ok",
      "[+]poststarthook/start-kube-apiserver-identity-lease-controller ok",
      "[+]poststarthook/start-kube-apiserver-identity-lease-garbage-collector ok",
      "[+]poststarthook/start-service-ip-repair-controllers ok",
      "[+]poststarthook/start-kubernetes-service-cidr-controller ok",
      expect.stringMatching(new RegExp(`^info: serving instance ${NAME} host="node-1" holder="${NAME}_[0-9a-f-]{36}" renewed="[^"]+Z"$`)),
      "readyz check passed",
    ],
  ]);
});

it.each(["healthz", "livez", "readyz"])("/%s and its checks: ok, and counted at /metrics/slis alone", async (type) => {
  const hook = "poststarthook/start-service-ip-repair-controllers";
  for (const path of [`/${type}`, `/${type}/${hook}`]) expect(await api.get(path)).toMatchObject({ code: 200, text: "ok" });
  expect((await api.get(`/${type}?verbose&exclude=${hook}&exclude=etcd`)).text).toContain(`[+]${hook} excluded: ok\n`);
  const slis = (await api.get("/metrics/slis")).text;
  expect(slis).toContain(`kubernetes_healthcheck{name="${hook}",type="${type}"} 1\n`);
  expect(slis).toMatch(new RegExp(`kubernetes_healthchecks_total\\{name="${hook}",status="success",type="${type}"\\} [1-9]`));
  expect((await api.get("/metrics")).text).not.toContain("kubernetes_healthcheck");
});

it("another cluster's readiness: waits for its own first repairs, which nothing but the probe asks for", async () => {
  await api.must("PUT", "/clusters/green");
  const { code, text } = await api.get("/clusters/green/readyz?verbose");
  expect([code, text]).toEqual([200, expect.stringContaining("[+]poststarthook/start-service-ip-repair-controllers ok\n")]);
  expect((await api.get("/clusters/green/metrics/slis")).text).toContain(
    'kubernetes_healthcheck{name="coordinator",type="readyz",cluster="green"} 1',
  );
});
