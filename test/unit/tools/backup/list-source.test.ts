/** A cluster by its lists: pages that fit, and answers that are none. */
import { expect, it } from "vitest";
import type { BackupType } from "../../../../src/tools/backup/format";
import { listSource } from "../../../../src/tools/backup/list-source";

const PODS: BackupType = { group: "", version: "v1", resource: "pods", kind: "Pod", namespaced: true, hasStatus: true };
const LEASES: BackupType = {
  group: "coordination.k8s.io",
  version: "v1",
  resource: "leases",
  kind: "Lease",
  namespaced: true,
  hasStatus: false,
};
const KIB = 1024;
const MIB = 1024 * KIB;

/** Objects of so many bytes; `asked` gets each path. */
function source(bytes: number, asked: string[], { status = 200, count = 20 } = {}) {
  return listSource([PODS, LEASES], (path) => {
    asked.push(path);
    const limit = Number(new URLSearchParams(path.split("?")[1]).get("limit"));
    const items = Array.from({ length: Math.min(limit, count) }, (_, i) => ({
      metadata: { name: `o-${String(i)}` },
      text: "x".repeat(bytes),
    }));
    const text = status === 200 ? JSON.stringify({ metadata: { resourceVersion: "7", continue: "next" }, items }) : "no";
    return Promise.resolve({ status, body: new Blob([text]).stream() as never, text: () => Promise.resolve(text) });
  });
}

it("a page: its objects, its revision and the next one, of core and of a group", async () => {
  const asked: string[] = [];
  const page = await source(10, asked).page(PODS, "a=b&c");
  expect(page).toMatchObject({ resourceVersion: "7", next: "next" });
  expect(page === "expired" ? [] : page.objects).toHaveLength(20);
  await source(10, asked).newestRevision(LEASES);
  expect(asked).toEqual(["/api/v1/pods?limit=500&continue=a%3Db%26c", "/apis/coordination.k8s.io/v1/leases?limit=1"]);
});

it("a page of more than 2 MiB: asked for again with fewer objects, and so are the next ones of its type", async () => {
  const asked: string[] = [];
  const own = source(256 * KIB, asked);
  for (let page = 0; page < 2; page++) await own.page(PODS, "");
  await own.page(LEASES, "");
  const limits = asked.map((path) => /(\w+)\?limit=(\d+)/.exec(path)?.slice(1).join(" "));
  expect(limits).toEqual(["pods 500", "pods 62", "pods 7", "pods 7", "leases 500", "leases 62", "leases 7"]);
});

it("one object of more than 2 MiB, which no server has: an error, not a page without it", async () => {
  await expect(source(3 * MIB, [], { count: 1 }).page(PODS, "")).rejects.toThrow("an object of pods is longer than 2097152 bytes");
});

it("410: the history has ended; another refusal: an error with the server's words", async () => {
  expect(await source(10, [], { status: 410 }).page(PODS, "a")).toBe("expired");
  await expect(source(10, [], { status: 503 }).page(PODS, "")).rejects.toThrow("the API server answers 503: no");
});
