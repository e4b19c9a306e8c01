/** The store of ClusterRoles as real objects know it: who calls whom for the rules of a cluster, and that nothing is missed when objects restart. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { policyStore, storeStub } from "../../../durable-objects/peers/peers";
import { defaultPolicy } from "../../../src/access/rbac/default-policy";
import type { RbacKind } from "../../../src/access/rbac/policy";
import type { ResourceStore } from "../../../durable-objects/resource-store";
import { resourceOfKind } from "../../../src/access/rbac/rbac-resources";
import type { StoredRules } from "../../../src/access/rbac/stored-policy";
import type { PlainStore } from "../../../src/controllers/plain-store";
import type { PolicyAnswer } from "../../../src/api/rpc/policy";
import { countedCalls } from "../../support/objects/counted-calls";
import { EconomyWorld } from "../../support/economy/world";
import { DELETE, WRITE } from "../../support/worlds/store-world";
import { platformStub } from "../../support/objects/every-object";

const bindings = env as unknown as Env;
const KEY = { namespace: "", name: "jane" };
const BINDING = {
  metadata: { name: KEY.name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
};
let world: EconomyWorld;
let cluster = "";

beforeEach(async () => {
  world = await new EconomyWorld().begin();
  ({ cluster } = world);
  const options = { ...WRITE, group: "rbac.authorization.k8s.io", version: "v1" };
  const made = await store("ClusterRoleBinding").write({ verb: "create", namespace: "", object: JSON.stringify(BINDING), options });
  expect(made).toMatchObject({ ok: true });
});
afterEach(() => world.end());

const ask = (version = ""): Promise<PolicyAnswer> => policyStore(bindings, cluster).policySince(version);
const store = (kind: RbacKind) => storeStub(bindings, cluster, resourceOfKind(kind));
const revoke = () => store("ClusterRoleBinding").write({ verb: "delete", key: KEY, options: DELETE });

async function asked(version: string): Promise<{ answer: PolicyAnswer; calls: string[] }> {
  let answer: PolicyAnswer | undefined;
  const calls = await countedCalls(async () => (answer = await ask(version)));
  const named = calls
    .filter(({ object }) => object.startsWith(`${cluster}/`))
    .map(({ object, method }) => `${method} ${object.slice(cluster.length + 1)}`);
  return { answer: answer ?? expect.fail("no answer"), calls: named.map((call) => call.replace(".rbac.authorization.k8s.io", "")).sort() };
}

const policyStub = () => platformStub<ResourceStore & { brain: PlainStore }>(policyStore(bindings, cluster));

/** Of the rules that the store of ClusterRoles keeps; undefined = none. */
function storedVersion(): Promise<string | undefined> {
  return runInDurableObject(policyStub(), (_, { storage }) => storage.kv.get<StoredRules>("compiled-policy")?.version);
}

function versionOf(answer: PolicyAnswer): string {
  return answer.kind === "policy" ? answer.version : expect.fail(`the answer is ${answer.kind}`);
}

it("the rules of a cluster: one call also when everything sleeps, and four behind a change that a sleeping store was told of", async () => {
  expect((await ask()).begun).toBe(true);
  // The rules of aggregated roles come behind.
  await world.settle();
  const version = versionOf(await ask());
  await world.asleep();
  const asleep = await asked(version);
  expect(asleep.answer.kind).toBe("unchanged");
  expect(asleep.calls).toEqual(["policySince clusterroles"]);
  expect((await asked(version)).calls).toEqual(["policySince clusterroles"]);
  const written = await countedCalls(() => revoke());
  const told = written.filter(({ method }) => method === "rulesChanging").map(({ object }) => object);
  expect(told).toEqual([`${cluster}/clusterroles.rbac.authorization.k8s.io`]);
  const behind = await asked(version);
  const lists = ["clusterrolebindings", "rolebindings", "roles"].map((name) => `objectsAfter ${name}`);
  expect(behind.calls).toEqual([...lists, "policySince clusterroles"]);
  const changed = versionOf(behind.answer);
  expect(changed).not.toBe(version);
  expect((await asked(changed)).calls).toEqual(["policySince clusterroles"]);
  const options = { ...WRITE, group: "rbac.authorization.k8s.io", version: "v1" };
  await store("ClusterRoleBinding").write({ verb: "create", namespace: "", object: JSON.stringify(BINDING), options });
  expect((await asked(changed)).calls).toEqual(["objectsSince clusterrolebindings", "policySince clusterroles"]);
});

it("a ClusterRole that goes: the rules that were kept go in its transaction", async () => {
  await ask();
  // The rules of aggregated roles come behind.
  await world.settle();
  const version = versionOf(await ask());
  expect(await storedVersion()).toBe(version);
  await runInDurableObject(policyStub(), ({ brain }) => {
    vi.spyOn(brain.store.storage, "objectDelete").mockImplementationOnce(() => {
      throw new Error("disk full");
    });
  });
  const key = { namespace: "", name: "view" };
  const remove = () => store("ClusterRole").write({ verb: "delete", key, options: DELETE });
  await remove().catch(() => undefined);
  expect(await storedVersion()).toBe(version);
  expect(await remove()).toMatchObject({ ok: true });
  expect(await storedVersion()).toBeUndefined();
});

it("a new cluster: all default objects are in the first answer", async () => {
  const answer = await ask();
  const text = answer.kind === "policy" ? answer.text : "{}";
  const names = Object.values(JSON.parse(text) as Record<string, unknown[]>).flat();
  expect(names.length).toBe(defaultPolicy().length + 1);
});

it("a binding that goes while the store of ClusterRoles sleeps: is in no later answer", async () => {
  const version = versionOf(await ask());
  await world.asleep();
  expect(await revoke()).toMatchObject({ ok: true });
  await abortAllDurableObjects();
  const answer = await ask(version);
  expect(answer.kind === "policy" && answer.text.includes('"jane"')).toBe(false);
  expect(versionOf(answer)).not.toBe(version);
});

it("where roles do not decide: a change is told as well, so that rules that were kept before are right when they decide again", async () => {
  const version = versionOf(await ask());
  await world.settle();
  bindings.AUTHORIZATION_MODE = "AlwaysAllow";
  await abortAllDurableObjects();
  expect(await revoke()).toMatchObject({ ok: true });
  bindings.AUTHORIZATION_MODE = "RBAC";
  await abortAllDurableObjects();
  expect(versionOf(await ask(version))).not.toBe(version);
});
