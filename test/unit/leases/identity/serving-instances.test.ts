import { expect, it } from "vitest";
import { rfc3339Micros } from "../../../../src/api/meta/time";
import { servingInstances } from "../../../../src/leases/identity/serving-instances";

const NOW = Date.UTC(2026, 0, 2);
const { signal } = new AbortController();

function lease(name: string, agoSeconds: number, more: object = {}) {
  const labels = { "apiserver.kubernetes.io/identity": "kube-apiserver" };
  const spec = { holderIdentity: name, leaseDurationSeconds: 60, renewTime: rfc3339Micros(NOW - agoSeconds * 1000) };
  return { metadata: { namespace: "kube-system", name, labels, ...more }, spec };
}

it("serving instances: the living ones by name, the dead ones counted; Leases of other namespaces do not count", async () => {
  const items = [lease("c", 1), lease("a", 59), lease("gone", 61), lease("b", -120), lease("elsewhere", 1, { namespace: "default" })];
  const asked: string[] = [];
  const found = await servingInstances(
    (path) => {
      asked.push(path);
      return Promise.resolve({ status: 200, body: null, text: () => Promise.resolve(JSON.stringify({ items })) });
    },
    NOW,
    signal,
  );
  expect([found.living.map(({ metadata }) => metadata?.name), found.expired]).toEqual([["a", "b", "c"], 1]);
  expect(found.expiredSinceMs).toBe(NOW - 1_000);
  expect(asked).toEqual(["/apis/coordination.k8s.io/v1/leases?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver"]);
});

it("a server that refuses the list: the error says why", async () => {
  const refused = servingInstances(() => Promise.resolve({ status: 403, body: null, text: () => Promise.resolve("no") }), NOW, signal);
  await expect(refused).rejects.toThrow("the API server answers 403: no");
});
