import { describe, expect, it } from "vitest";
import type { FieldError } from "../../../../src/api/meta/field-errors";
import type { ObjectMeta } from "../../../../src/api/meta/kubernetes";
import { validateDNS1123Subdomain } from "../../../../src/api/meta/names";
import {
  dropDuplicateOwners,
  stampCreate,
  stampUpdate,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from "../../../../src/api/meta/object-meta";

function texts(errors: readonly FieldError[]): string[] {
  return errors.map((error) => `${error.field}: ${error.body}`);
}

function check(metadata: ObjectMeta, namespaced = true): string[] {
  return texts(
    validateObjectMeta(
      { name: "foo", namespace: namespaced ? "ns" : undefined, ...metadata },
      { namespaced, validateName: validateDNS1123Subdomain },
    ),
  );
}

const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };

describe("validateObjectMeta", () => {
  it.each<{ name: string; given: ObjectMeta; want: (string | RegExp)[]; namespaced?: boolean }>([
    { name: "a good object", given: { labels: { "a/b": "c" }, finalizers: ["x/y", "orphan"], ownerReferences: [owner] }, want: [] },
    { name: "no name", given: { name: "" }, want: ["metadata.name: Required value: name or generateName is required"] },
    { name: "bad name", given: { name: "F" }, want: [/^metadata\.name: Invalid value: "F": a lowercase RFC 1123 subdomain/] },
    { name: "generateName with a final dash", given: { generateName: "foo-" }, want: [] },
    { name: "bad generateName", given: { generateName: "Foo-" }, want: [/^metadata\.generateName: Invalid value: "Foo-": a lowercase/] },
    { name: "no namespace", given: { namespace: "" }, want: ["metadata.namespace: Required value"] },
    { name: "bad namespace", given: { namespace: "a.b" }, want: ['metadata.namespace: Invalid value: "a.b": must not contain dots'] },
    {
      name: "namespace of a cluster-scoped kind",
      given: { namespace: "ns" },
      namespaced: false,
      want: ["metadata.namespace: Forbidden: not allowed on this type"],
    },
    {
      name: "negative generation",
      given: { generation: -1 },
      want: ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"],
    },
    {
      name: "bad label key and value",
      given: { labels: { "-a": "b c" } },
      want: [/^metadata\.labels: Invalid value: "-a": name part must consist/, /^metadata\.labels: Invalid value: "b c": a valid label/],
    },
    { name: "annotation keys in capitals", given: { annotations: { "EXAMPLE.com/A": "x" } }, want: [] },
    {
      name: "bad annotation key",
      given: { annotations: { "a b": "x" } },
      want: [/^metadata\.annotations: Invalid value: "a b": name part/],
    },
    {
      name: "annotations too long",
      given: { annotations: { a: "x".repeat(262144) } },
      want: ["metadata.annotations: Too long: may not be more than 262144 bytes"],
    },
    { name: "annotations that just fit", given: { annotations: { a: "x".repeat(262143) } }, want: [] },
    {
      name: "an empty owner",
      given: { ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }] },
      want: [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    },
    {
      name: "an owner of a version with two slashes",
      given: { ownerReferences: [{ ...owner, apiVersion: "a/b/c" }] },
      want: ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
    },
    {
      name: "an Event as owner",
      given: { ownerReferences: [{ ...owner, kind: "Event" }] },
      want: [/^metadata\.ownerReferences: Invalid value: \{.*\}: \/v1, Kind=Event is disallowed from being an owner$/],
    },
    {
      name: "two controllers",
      given: {
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: "m", uid: "v", controller: true },
        ],
      },
      want: [/Only one reference can have Controller set to true\. Found "true" in references for Node\/n and Node\/m$/],
    },
    {
      name: "finalizer without a prefix",
      given: { finalizers: ["mine"] },
      want: ['metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified'],
    },
    {
      name: "orphan beside foregroundDeletion",
      given: { finalizers: ["orphan", "foregroundDeletion"] },
      want: [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    },
  ])("$name: upstream's errors", ({ given, want, namespaced }) => {
    const got = check(given, namespaced);
    expect(got).toHaveLength(want.length);
    want.forEach((text, i) => (typeof text === "string" ? expect(got[i]).toBe(text) : expect(got[i]).toMatch(text)));
  });
});

describe("validateObjectMetaUpdate", () => {
  const before: ObjectMeta = { name: "foo", namespace: "ns", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z", finalizers: ["a/b"] };

  it("unchanged metadata: no errors", () => {
    expect(validateObjectMetaUpdate({ after: { ...before }, before })).toEqual([]);
  });

  it.each([
    [{ name: "bar" }, 'metadata.name: Invalid value: "bar": field is immutable'],
    [{ namespace: "other" }, 'metadata.namespace: Invalid value: "other": field is immutable'],
    [{ uid: "v" }, 'metadata.uid: Invalid value: "v": field is immutable'],
    [
      { deletionTimestamp: "2026-01-02T00:00:00Z" },
      'metadata.deletionTimestamp: Invalid value: "2026-01-02T00:00:00Z": field is immutable',
    ],
    [{ deletionGracePeriodSeconds: 3 }, "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable"],
  ])("%j: one error, the field is immutable", (changed, want) => {
    expect(texts(validateObjectMetaUpdate({ after: { ...before, ...changed }, before }))).toEqual([want]);
  });

  it("finalizers of an object in deletion: may be removed, not added", () => {
    const deleting = { ...before, deletionTimestamp: "2026-01-02T00:00:00Z" };
    expect(validateObjectMetaUpdate({ after: { ...deleting, finalizers: [] }, before: deleting })).toEqual([]);
    expect(texts(validateObjectMetaUpdate({ after: { ...deleting, finalizers: ["a/b", "x"] }, before: deleting }))).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x"}',
    ]);
  });
});

describe("stamps", () => {
  it("stampCreate: replaces the fields that only the server sets", () => {
    const metadata: ObjectMeta = {
      name: "foo",
      uid: "mine",
      selfLink: "/x",
      creationTimestamp: "1999-01-01T00:00:00Z",
      deletionTimestamp: "1999-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 4,
      labels: { a: "b" },
    };
    stampCreate(metadata, { now: Date.UTC(2026, 0, 1, 0, 0, 0, 500), uid: "u" });
    expect(metadata).toEqual({ name: "foo", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z", labels: { a: "b" } });
  });

  it("stampUpdate: absent and unchangeable members come from the stored object", () => {
    const before: ObjectMeta = {
      uid: "u",
      creationTimestamp: "2026-01-01T00:00:00Z",
      deletionTimestamp: "2026-01-02T00:00:00Z",
      deletionGracePeriodSeconds: 0,
    };
    const after: ObjectMeta = { creationTimestamp: "1999-01-01T00:00:00Z", selfLink: "/x" };
    stampUpdate({ after, before });
    expect(after).toEqual(before);
  });
});

describe("many controllers", () => {
  it("one error for all of them: its text does not grow with their square", () => {
    const ownerReferences = Array.from({ length: 1000 }, (_, i) => ({ ...owner, uid: `u${i}`, controller: true }));
    const errors = check({ ownerReferences });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/Only one reference can have Controller set to true\. Found "true" in references for Node\/n and Node\/n$/);
  });
});

describe("dropDuplicateOwners", () => {
  it("equal references: the first stays, one warning", () => {
    const metadata: ObjectMeta = { ownerReferences: [owner, { ...owner, uid: "v" }, { ...owner }] };
    const warnings = dropDuplicateOwners(metadata);
    expect(metadata.ownerReferences).toEqual([owner, { ...owner, uid: "v" }]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/duplicate UID\(s\) observed: u$/);
  });

  it("many references: each is compared once", () => {
    let reads = 0;
    const counted = (i: number) => ({
      ...owner,
      get uid() {
        reads++;
        return `u${i}`;
      },
    });
    const ownerReferences = Array.from({ length: 1000 }, (_, i) => counted(i));
    expect(dropDuplicateOwners({ ownerReferences })).toEqual([]);
    expect(reads).toBeLessThan(10_000);
  });

  it("references that differ in one member: all stay", () => {
    const ownerReferences = [owner, { ...owner, controller: false }, { ...owner, blockOwnerDeletion: true }, { ...owner, name: "m" }];
    expect(dropDuplicateOwners({ ownerReferences })).toEqual([]);
  });

  it("no duplicates: no warning", () => {
    expect(dropDuplicateOwners({ ownerReferences: [owner] })).toEqual([]);
    expect(dropDuplicateOwners({})).toEqual([]);
  });
});
