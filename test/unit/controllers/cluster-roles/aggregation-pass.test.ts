import { expect, it } from "vitest";
import { aggregationPass } from "../../../../src/controllers/cluster-roles/aggregation-pass";
import type { ClusterRole } from "../../../../src/api/meta/kubernetes";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const RULE = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const aggregated = (name: string): ClusterRole => ({
  metadata: { name, uid: name },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: "all" } }] },
});

it("a write that gets no answer: the other roles of the pass are written, and another pass follows", async () => {
  const written: string[] = [];
  const objects = [aggregated("a"), aggregated("b"), aggregated("c"), { metadata: { name: "leaf", labels: { to: "all" } }, rules: [RULE] }];
  const cursor = { incarnation: "1", revision: 1 };
  const pass = aggregationPass({
    clock: { now: () => 0, after: () => () => undefined },
    recorder: { log: () => undefined },
    storage: new MemoryRowStorage(),
    roles: {
      objectsAfter: () => Promise.resolve({ objects: objects.map((object) => JSON.stringify(object)), cursor, next: "" }),
      objectsSince: () => Promise.resolve({ kind: "changes", changes: [], cursor, more: false }),
      objectsNamed: (keys) => Promise.resolve(keys.map(() => null)),
      write: (request) => {
        written.push(request.verb === "patch" ? request.key.name : request.verb);
        if (written.length === 1) return Promise.reject(new Error("no answer"));
        return Promise.resolve({ ok: true, code: 200, object: "{}", warnings: [], gone: false });
      },
    },
  });
  expect(await pass(true)).toMatchObject({ left: true });
  expect(written).toEqual(["a", "b", "c"]);
});
