import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defaultPolicy } from "../../../../src/access/rbac/default-policy";
import { PolicyHost } from "../../../../src/access/rbac/policy-host";
import { resourceOfKind } from "../../../../src/access/rbac/rbac-resources";
import type { ClusterRole } from "../../../../src/api/meta/kubernetes";
import type { ObjectFeed } from "../../../../src/api/rpc/object-feed";
import type { BatchedStore, ObjectKey, WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import { ensureDefaultPolicy } from "../../../../src/worker/access/default-policy";
import type { Env } from "../../../../durable-objects/platform/env";
import { systemClock, systemDigest } from "../../../../durable-objects/platform/ports";

/** The stores of RBAC objects: what they have, and what was asked of them. */
class Stores {
  readonly objects = new Map<string, ClusterRole>();
  readonly writes: WriteRequest[] = [];
  reads = 0;
  isDown = false;
  /** of writes; undefined = they succeed */
  refusal: number | undefined;

  readonly env = {
    RESOURCE_STORE: { idFromName: (name: string) => name, get: (name: string) => this.#called(name) },
  } as unknown as Env;

  readonly #host = new PolicyHost({
    clock: systemClock,
    digest: systemDigest,
    recorder: { log: () => undefined },
    store: (kind) => this.#stub(`x/${resourceOfKind(kind).resource}.`) as unknown as ObjectFeed & BatchedStore,
    defaults: { load: () => undefined, save: () => undefined },
    stored: { load: () => undefined, save: () => undefined, remove: () => undefined },
  });

  /** @param isOlder the release before */
  constructor(private readonly isOlder: boolean) {}

  #called(store: string) {
    const missing = new Error('The RPC receiver does not implement the method "ensureDefaults".');
    return { ...this.#stub(store), ensureDefaults: () => (this.isOlder ? Promise.reject(missing) : this.#host.ensureDefaults()) };
  }

  #stub(store: string) {
    const keyOf = ({ namespace, name }: ObjectKey) => `${store.slice(store.indexOf("/"), store.indexOf(".") + 1)} ${namespace} ${name}`;
    return {
      objectsNamed: (keys: ObjectKey[]) => {
        this.reads++;
        if (this.isDown) return Promise.reject(new Error("Network connection lost."));
        return Promise.resolve(keys.map((key) => (this.objects.has(keyOf(key)) ? JSON.stringify(this.objects.get(keyOf(key))) : null)));
      },
      writeAll: (requests: WriteRequest[]) => {
        const { refusal } = this;
        return Promise.resolve(
          requests.map((request): WriteResult => {
            this.writes.push(request);
            if (refusal !== undefined) {
              const status = {
                kind: "Status",
                apiVersion: "v1",
                metadata: {},
                status: "Failure",
                message: "no",
                reason: "x",
                code: refusal,
              };
              return { ok: false, status, warnings: [] } as unknown as WriteResult;
            }
            if (!("object" in request)) return { ok: true, code: 200, object: "{}", warnings: [], gone: true };
            const object = JSON.parse(request.object) as ClusterRole;
            this.objects.set(keyOf({ namespace: object.metadata?.namespace ?? "", name: object.metadata?.name ?? "" }), object);
            return { ok: true, code: 201, object: request.object, warnings: [], gone: false };
          }),
        );
      },
    };
  }

  role(name: string): ClusterRole {
    const found = [...this.objects].find(([key, { metadata }]) => key.includes("clusterroles.") && metadata?.name === name)?.[1];
    if (!found) throw new Error(`no ClusterRole ${name}`);
    return found;
  }
}

let clusters = 0;
/** A cluster that no test before has made this isolate know. */
const freshId = () => `default-policy-${String(++clusters)}`;
const ensured = (stores: Stores, id: string) => ensureDefaultPolicy(stores.env, id, () => undefined);
const DISCOVERY = "system:discovery";
const EXTRA = { verbs: ["get"], nonResourceURLs: ["/extra"] };

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe.each([
  ["this release", false],
  ["the release before", true],
])("the default roles of a cluster, with stores of %s", (_release, isOlder) => {
  it("a new cluster: all are created, once, however many requests come", async () => {
    const stores = new Stores(isOlder);
    const id = freshId();
    const answers = await Promise.all([1, 2, 3].map(() => ensured(stores, id)));
    expect(answers.every(({ ok }) => ok)).toBe(true);
    expect(stores.writes.length).toBe(defaultPolicy().length);
    expect(stores.writes.every(({ verb }) => verb === "create")).toBe(true);
    await ensured(stores, id);
    expect(stores.reads).toBe(4);
  });

  it("another isolate, or a later start: writes nothing where nothing is missing", async () => {
    const stores = new Stores(isOlder);
    await ensured(stores, freshId());
    stores.writes.length = 0;
    await ensured(stores, freshId());
    expect(stores.writes).toEqual([]);
  });

  it("a right that is missing is added, one that somebody added is kept", async () => {
    const stores = new Stores(isOlder);
    await ensured(stores, freshId());
    stores.role(DISCOVERY).rules = [EXTRA];
    await ensured(stores, freshId());
    const { rules = [] } = stores.role(DISCOVERY);
    expect(rules).toContainEqual(EXTRA);
    expect(rules?.flatMap(({ nonResourceURLs = [] }) => nonResourceURLs)).toEqual(expect.arrayContaining(["/version", "/api"]));
  });

  it("the annotation autoupdate=false: the role stays as it is", async () => {
    const stores = new Stores(isOlder);
    await ensured(stores, freshId());
    const role = stores.role(DISCOVERY);
    role.rules = [EXTRA];
    role.metadata = { ...role.metadata, annotations: { "rbac.authorization.kubernetes.io/autoupdate": "false" } };
    stores.writes.length = 0;
    await ensured(stores, freshId());
    expect(stores.writes).toEqual([]);
    expect(stores.role(DISCOVERY).rules).toEqual([EXTRA]);
  });

  it("a store that does not answer: 503, and the next request tries again", async () => {
    const stores = new Stores(isOlder);
    const id = freshId();
    stores.isDown = true;
    expect(await ensured(stores, id)).toMatchObject({ ok: false, error: { code: 503 } });
    stores.isDown = false;
    expect(await ensured(stores, id)).toMatchObject({ ok: true });
    expect(stores.role(DISCOVERY).rules?.length).toBe(1);
  });

  it("writes that fail: tried again by the next request", async () => {
    const stores = new Stores(isOlder);
    const id = freshId();
    stores.refusal = 503;
    expect(await ensured(stores, id)).toMatchObject({ ok: false, error: { code: 503 } });
    stores.refusal = undefined;
    expect(await ensured(stores, id)).toMatchObject({ ok: true });
  });

  it("a default that another isolate created first: no error", async () => {
    const stores = new Stores(isOlder);
    stores.refusal = 409;
    expect(await ensured(stores, freshId())).toMatchObject({ ok: true });
  });
});
