import { beforeEach, describe, expect, it } from "vitest";
import { authorizeByRbac } from "../../../../src/access/rbac/authorize";
import { FollowedPolicy, type PolicySource } from "../../../../src/access/rbac/followed-policy";
import { Policy, type RbacKind, type RbacObjects } from "../../../../src/access/rbac/policy";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import type { StoreCursor } from "../../../../src/api/rpc/object-links";
import { err, ok, type Result } from "../../../../src/core/base/result";

const DOWN = "down";
const LENGTH_MAX = 10_000;
type Change = { deleted: boolean; object: string };

/** The stores of one cluster: what each has, its history since `oldest`, and how much one answer has. */
class Stores implements PolicySource<string> {
  readonly objects = new Map<RbacKind, Map<string, object>>();
  readonly history = new Map<RbacKind, Change[]>();
  readonly calls: string[] = [];
  /** those that need not be asked */
  readonly current = new Set<RbacKind>();
  /** up to which revision each history is gone */
  readonly forgotten = new Map<RbacKind, number>();
  incarnation = "1";
  pageMax = 1_000;
  /** how many more calls are answered */
  answers = Infinity;
  /** runs behind each page */
  between: () => void = () => undefined;

  isCurrent(kind: RbacKind): boolean {
    return this.current.has(kind);
  }

  put<K extends RbacKind>(kind: K, object: RbacObjects[K]): void {
    this.#of(kind).set(keyOf(object), object);
    this.#historyOf(kind).push({ deleted: false, object: JSON.stringify(object) });
  }

  remove(kind: RbacKind, namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const object = this.#of(kind).get(key);
    this.#of(kind).delete(key);
    this.#historyOf(kind).push({ deleted: true, object: JSON.stringify(object) });
  }

  objectsSince(kind: RbacKind, cursor: StoreCursor | undefined, limit: number): ReturnType<PolicySource<string>["objectsSince"]> {
    this.calls.push(`since ${kind}`);
    if (this.#isDown()) return Promise.resolve(err(DOWN));
    const from = cursor?.revision ?? 0;
    const all = this.#historyOf(kind);
    if (cursor?.incarnation !== this.incarnation || from < (this.forgotten.get(kind) ?? 0))
      return Promise.resolve(ok({ kind: "expired" as const }));
    const changes = all.slice(from, from + Math.min(limit, this.pageMax));
    const revision = from + changes.length;
    return Promise.resolve(
      ok({ kind: "changes" as const, changes, cursor: { incarnation: this.incarnation, revision }, more: revision < all.length }),
    );
  }

  objectsAfter(kind: RbacKind, after: string, limit: number): ReturnType<PolicySource<string>["objectsAfter"]> {
    this.calls.push(`after ${kind}`);
    if (this.#isDown()) return Promise.resolve(err(DOWN));
    const keys = [...this.#of(kind).keys()].sort().filter((key) => key > after);
    const page = keys.slice(0, Math.min(limit, this.pageMax));
    const next = page.length < keys.length ? (page.at(-1) ?? "") : "";
    const answer = {
      objects: page.map((key) => JSON.stringify(this.#of(kind).get(key))),
      cursor: { incarnation: this.incarnation, revision: this.#historyOf(kind).length },
      next,
    };
    this.between();
    return Promise.resolve(ok(answer));
  }

  forgetHistory(): void {
    for (const [kind, all] of this.history) this.forgotten.set(kind, all.length);
  }

  #isDown(): boolean {
    return --this.answers < 0;
  }

  #of(kind: RbacKind): Map<string, object> {
    const found = this.objects.get(kind) ?? new Map<string, object>();
    this.objects.set(kind, found);
    return found;
  }

  #historyOf(kind: RbacKind): Change[] {
    const found = this.history.get(kind) ?? [];
    this.history.set(kind, found);
    return found;
  }
}

function keyOf({ metadata }: RbacObjects[RbacKind]): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}

let stores: Stores;
let followed: FollowedPolicy<string, Policy>;
beforeEach(() => {
  stores = new Stores();
  followed = new FollowedPolicy(stores, LENGTH_MAX, () => new Policy());
});

const role = (name: string, resource: string) => ({
  metadata: { name, namespace: "a" },
  rules: [{ verbs: ["get"], apiGroups: [""], resources: [resource] }],
});
const binding = (name: string, roleName: string, user = "bob") => ({
  metadata: { name, namespace: "a" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: roleName },
  subjects: [{ kind: "User", name: user }],
});
const policy = (): Policy => followed.policy ?? expect.fail("the rules are too large");
const may = (resource: string): boolean =>
  authorizeByRbac(policy(), { name: "bob", uid: "", groups: [], extra: {} }, resourceAttributes({ verb: "get", resource, namespace: "a" }))
    .decision === "allow";
const refresh = (): Promise<Result<void, string>> => followed.refresh();

describe("a policy that follows its stores", () => {
  it("the first refresh: takes over what is there", async () => {
    stores.put("Role", role("r", "pods"));
    stores.put("RoleBinding", binding("b", "r"));
    expect(may("pods")).toBe(false);
    expect(await refresh()).toEqual(ok(undefined));
    expect(may("pods")).toBe(true);
  });

  it("later refreshes: ask for changes alone, and take over additions, changes and deletions", async () => {
    stores.put("Role", role("r", "pods"));
    await refresh();
    stores.calls.length = 0;
    stores.put("RoleBinding", binding("b", "r"));
    await refresh();
    expect(may("pods")).toBe(true);
    stores.put("Role", role("r", "services"));
    await refresh();
    expect([may("pods"), may("services")]).toEqual([false, true]);
    stores.remove("RoleBinding", "a", "b");
    await refresh();
    expect(may("services")).toBe(false);
    expect(stores.calls.filter((call) => call.startsWith("after"))).toEqual([]);
  });

  it("a list of one page: is not asked for its changes as well", async () => {
    stores.put("Role", role("r", "pods"));
    await refresh();
    expect(stores.calls.toSorted()).toEqual(["after ClusterRole", "after ClusterRoleBinding", "after Role", "after RoleBinding"]);
  });

  it("a store that is known to have nothing new: not asked, until it may have", async () => {
    await refresh();
    stores.calls.length = 0;
    stores.current.add("RoleBinding");
    stores.put("Role", role("r", "pods"));
    stores.put("RoleBinding", binding("b", "r"));
    await refresh();
    expect([may("pods"), stores.calls.includes("since RoleBinding"), stores.calls.length]).toEqual([false, false, 3]);
    stores.current.clear();
    await refresh();
    expect(may("pods")).toBe(true);
  });

  it("an object that came and went between two refreshes: has no trace", async () => {
    await refresh();
    stores.put("Role", role("r", "pods"));
    stores.put("RoleBinding", binding("b", "r"));
    stores.remove("RoleBinding", "a", "b");
    await refresh();
    expect(may("pods")).toBe(false);
  });

  it("more than one answer has: all pages are read, of lists and of changes", async () => {
    stores.pageMax = 2;
    for (let i = 0; i < 7; i++) stores.put("Role", role(`r${String(i)}`, `kind${String(i)}`));
    for (let i = 0; i < 7; i++) stores.put("RoleBinding", binding(`b${String(i)}`, `r${String(i)}`));
    await refresh();
    for (let i = 0; i < 7; i++) expect(may(`kind${String(i)}`)).toBe(true);
    for (let i = 0; i < 5; i++) stores.remove("RoleBinding", "a", `b${String(i)}`);
    await refresh();
    for (let i = 0; i < 7; i++) expect(may(`kind${String(i)}`)).toBe(i >= 5);
  });

  it("a change between two pages of the list: is not missed", async () => {
    stores.pageMax = 1;
    for (const name of ["a", "b", "c"]) stores.put("Role", role(name, "pods"));
    for (const name of ["a", "b", "c"]) stores.put("RoleBinding", binding(name, name));
    let isDone = false;
    stores.between = () => {
      if (isDone) return;
      isDone = true;
      for (const name of ["a", "b", "c"]) stores.remove("RoleBinding", "a", name);
      stores.put("Role", role("z", "services"));
      stores.put("RoleBinding", binding("0", "z"));
    };
    await refresh();
    expect([may("pods"), may("services")]).toEqual([false, true]);
  });

  it.each([
    ["a history that no longer reaches back", () => stores.forgetHistory()],
    ["a store that began anew", () => (stores.incarnation = "2")],
  ])("%s: everything is read again, and what is gone goes", async (_title, lose) => {
    stores.put("Role", role("r", "pods"));
    stores.put("RoleBinding", binding("b", "r"));
    await refresh();
    stores.remove("RoleBinding", "a", "b");
    stores.put("Role", role("s", "services"));
    stores.put("RoleBinding", binding("c", "s"));
    lose();
    expect(await refresh()).toEqual(ok(undefined));
    expect([may("pods"), may("services")]).toEqual([false, true]);
  });

  it("a store that does not answer: the error, and the next refresh has everything", async () => {
    stores.pageMax = 1;
    for (let i = 0; i < 4; i++) stores.put("Role", role(`r${String(i)}`, `kind${String(i)}`));
    for (let i = 0; i < 4; i++) stores.put("RoleBinding", binding(`b${String(i)}`, `r${String(i)}`));
    await refresh();
    for (let i = 0; i < 4; i++) stores.remove("RoleBinding", "a", `b${String(i)}`);
    for (let answers = 0; answers < 6; answers++) {
      stores.answers = answers;
      expect(await refresh(), `${String(answers)} answers`).toEqual(err(DOWN));
    }
    stores.answers = Infinity;
    expect(await refresh()).toEqual(ok(undefined));
    for (let i = 0; i < 4; i++) expect(may(`kind${String(i)}`)).toBe(false);
  });

  it("an error amid the list: the next refresh lists again, and forgets what went meanwhile", async () => {
    stores.pageMax = 1;
    for (const name of ["a", "b", "c"]) stores.put("Role", role(name, "pods"));
    for (const name of ["a", "b", "c"]) stores.put("RoleBinding", binding(name, name));
    stores.answers = 6;
    expect(await refresh()).toEqual(err(DOWN));
    for (const name of ["a", "b", "c"]) stores.remove("RoleBinding", "a", name);
    stores.answers = Infinity;
    expect(await refresh()).toEqual(ok(undefined));
    expect(may("pods")).toBe(false);
  });
});

it("rules that are too large: no policy and nothing kept but names, and all of them again once they fit", async () => {
  stores.put("Role", role("reader", "services"));
  stores.put("RoleBinding", binding("b", "reader"));
  stores.put("Role", role("huge", "x".repeat(LENGTH_MAX)));
  expect(await followed.refresh()).toEqual(ok(undefined));
  expect([followed.policy, followed.length > LENGTH_MAX, followed.keptLength]).toEqual([undefined, true, "a/readera/ba/huge".length]);
  stores.put("Role", role("late", "pods"));
  stores.put("RoleBinding", binding("late", "late"));
  expect(await followed.refresh()).toEqual(ok(undefined));
  expect(followed.policy).toBeUndefined();
  stores.remove("Role", "a", "huge");
  expect(await followed.refresh()).toEqual(ok(undefined));
  expect([may("services"), may("pods"), followed.keptLength]).toEqual([true, true, followed.length]);
});

it("rules that fit again while a store does not answer: no policy until all of them are read", async () => {
  stores.put("RoleBinding", binding("b", "reader"));
  stores.put("Role", role("reader", "services"));
  stores.put("Role", role("huge", "x".repeat(LENGTH_MAX)));
  await followed.refresh();
  stores.remove("Role", "a", "huge");
  for (let answers = 0; answers < 8; answers++) {
    stores.answers = answers;
    expect([await followed.refresh(), followed.policy], `${String(answers)} answers`).toEqual([err(DOWN), undefined]);
  }
  stores.answers = Infinity;
  expect(await followed.refresh()).toEqual(ok(undefined));
  expect(may("services")).toBe(true);
});
