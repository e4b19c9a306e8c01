import { describe, expect, it } from "vitest";
import { conflict, forbidden } from "../../../../src/api/meta/status";
import { ok } from "../../../../src/core/base/result";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { WriteOptions, WriteRequest } from "../../../../src/api/rpc/store";
import { judgedWrite, type JudgedStore, type JudgedResult } from "../../../../src/worker/access/judged-write";

const ROLES = { group: "rbac.authorization.k8s.io", resource: "roles", kind: "Role" };
const OPTIONS: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Strict", force: false, group: "", version: "v1" };
const KEY = { namespace: "n", name: "r" };
const DELETE = { dryRun: false, preconditions: {}, propagationPolicy: "" as const, gracePeriodSeconds: undefined };

const stored = (revision: number, more: object = {}): KubeObject => ({
  metadata: { name: "r", uid: "u", resourceVersion: String(revision) },
  ...more,
});

/** A store with one object, that somebody else changes behind the first `changes` dry runs. */
class OneObject implements JudgedStore {
  readonly sent: WriteRequest[] = [];
  #revision = 1;

  constructor(
    private readonly exists: boolean,
    private changes = 0,
  ) {}

  read = () => Promise.resolve(ok(this.exists ? stored(this.#revision) : undefined));

  write = (wanted: WriteRequest): Promise<JudgedResult> => {
    if (wanted.options.dryRun) {
      if (this.changes-- > 0) this.#revision++;
      return Promise.resolve(this.#wrote(stored(this.#revision, { shown: true })));
    }
    this.sent.push(wanted);
    const pinned = JSON.stringify(wanted).match(/resourceVersion\W+(\d+)|\/metadata\/resourceVersion[^\d]+(\d+)/);
    if (pinned && Number(pinned[1] ?? pinned[2]) !== this.#revision) {
      return Promise.resolve({ ok: false, error: { status: conflict(ROLES, "r"), warnings: [] } });
    }
    return Promise.resolve(this.#wrote(stored(this.#revision + 1)));
  };

  #wrote(object: KubeObject): JudgedResult {
    return ok({ ok: true, code: 200, object: JSON.stringify(object), warnings: [], gone: false });
  }
}

const update: WriteRequest = {
  verb: "update",
  key: KEY,
  subresource: "",
  object: '{"metadata":{"name":"r"},"big":9007199254740993}',
  options: OPTIONS,
};
const merge: WriteRequest = { verb: "patch", key: KEY, subresource: "", patchType: "merge", patch: '{"rules":[]}', options: OPTIONS };
const json: WriteRequest = { ...merge, patchType: "json", patch: '[{"op":"remove","path":"/rules"}]' };
const removal: WriteRequest = { verb: "delete", key: KEY, options: DELETE };

describe("judged writes", () => {
  it.each<[name: string, wanted: WriteRequest, sent: Partial<WriteRequest>]>([
    ["an update", update, { object: '{"metadata":{"name":"r","uid":"u","resourceVersion":"1"},"big":9007199254740993}' }],
    ["a merge patch", merge, { patch: '{"rules":[],"metadata":{"uid":"u","resourceVersion":"1"}}' }],
    ["a JSON patch", json, { patch: '[{"op":"test","path":"/metadata/resourceVersion","value":"1"},{"op":"remove","path":"/rules"}]' }],
    ["a deletion", removal, { options: { ...DELETE, preconditions: { uid: "u", resourceVersion: "1" } } }],
  ])("%s: names the revision that was judged", async (_name, wanted, sent) => {
    const store = new OneObject(true);
    expect((await judgedWrite(wanted, store, [() => undefined], ROLES)).ok).toBe(true);
    expect(store.sent).toEqual([{ ...wanted, ...sent }]);
  });

  it("a judge who refuses: nothing is written, and his Status is the answer", async () => {
    const store = new OneObject(true);
    const status = forbidden(ROLES, "r", "no");
    const seen: unknown[] = [];
    const outcome = await judgedWrite(merge, store, [(before, after) => void seen.push(before, after), () => status], ROLES);
    expect(outcome).toEqual({ ok: false, error: { status, warnings: [] } });
    expect(store.sent).toEqual([]);
    expect(seen).toEqual([stored(1), stored(1, { shown: true })]);
  });

  it("a change between judgement and write: judged again", async () => {
    const store = new OneObject(true, 2);
    let judged = 0;
    expect((await judgedWrite(update, store, [() => void judged++], ROLES)).ok).toBe(true);
    expect([judged, store.sent.length]).toEqual([3, 3]);
  });

  it("changes without end: the conflict is the answer", async () => {
    const store = new OneObject(true, 100);
    expect(await judgedWrite(update, store, [() => undefined], ROLES)).toMatchObject({
      ok: false,
      error: { status: { reason: "Conflict" } },
    });
  });

  it.each([1, 0])("a revision that the client names, and %i changes: its conflict is the client's", async (changes) => {
    const store = new OneObject(true, changes);
    const own = { ...update, object: '{"metadata":{"resourceVersion":"1"}}' };
    const outcome = await judgedWrite(own, store, [() => undefined], ROLES);
    expect(outcome).toMatchObject(changes === 0 ? { ok: true } : { ok: false, error: { status: { reason: "Conflict" } } });
    expect(store.sent).toEqual([{ ...own, object: '{"metadata":{"resourceVersion":"1","uid":"u"}}' }]);
  });

  it("a later revision that the client names: a conflict, and nothing is sent", async () => {
    const store = new OneObject(true);
    const own = { ...update, object: '{"metadata":{"resourceVersion":"2"}}' };
    expect(await judgedWrite(own, store, [() => undefined], ROLES)).toMatchObject({ ok: false, error: { status: { reason: "Conflict" } } });
    expect(store.sent).toEqual([]);
  });

  it("a creation: judged by the object alone", async () => {
    const store = new OneObject(false);
    const seen: unknown[] = [];
    const create: WriteRequest = { verb: "create", namespace: "n", object: "{}", options: OPTIONS };
    await judgedWrite(create, store, [(before, after) => void seen.push(before, after)], ROLES);
    expect([seen, store.sent]).toEqual([[undefined, stored(1, { shown: true })], [create]]);
  });
});
