import { describe, expect, it } from "vitest";
import { checkDeletePreconditions, resourceVersionRequired, uidConflict } from "../../../../src/api/meta/preconditions";

const lease = { group: "coordination.k8s.io", resource: "leases", kind: "Lease" };
const metadata = { name: "n", namespace: "ns", uid: "B", resourceVersion: "7" };

describe("checkDeletePreconditions", () => {
  it.each([{}, { uid: "B" }, { resourceVersion: "7" }, { uid: "B", resourceVersion: "7" }])("%j: holds", (preconditions) => {
    expect(checkDeletePreconditions(lease, metadata, preconditions)).toBeUndefined();
  });

  it("another uid: a conflict whose text names the kind", () => {
    const status = checkDeletePreconditions(lease, metadata, { uid: "A" });
    expect(status).toMatchObject({ code: 409, reason: "Conflict", details: { name: "n", group: "coordination.k8s.io", kind: "Lease" } });
    expect(status?.message).toBe(
      'Operation cannot be fulfilled on Lease.coordination.k8s.io "n": the UID in the precondition (A) does not match the UID in record (B). The object might have been deleted and then recreated',
    );
  });

  it("another resourceVersion: a conflict", () => {
    expect(checkDeletePreconditions(lease, metadata, { resourceVersion: "6" })?.message).toBe(
      'Operation cannot be fulfilled on Lease.coordination.k8s.io "n": the ResourceVersion in the precondition (6) does not match the ResourceVersion in record (7). The object might have been modified',
    );
  });
});

it("uidConflict: a stale copy of a deleted object is a conflict in upstream's words", () => {
  const status = uidConflict(lease, "ns/n", { given: "A", stored: "" });
  expect(status.code).toBe(409);
  expect(status.message).toMatch(/^Operation cannot be fulfilled on leases\.coordination\.k8s\.io "n": StorageError: invalid object/);
  expect(status.message).toContain("Key: /registry/leases/ns/n,");
  expect(status.message).toMatch(/Precondition failed: UID in precondition: A, UID in object meta: $/);
});

it("resourceVersionRequired: 422 that names the resource", () => {
  const status = resourceVersionRequired(lease, "n");
  expect(status.code).toBe(422);
  expect(status.message).toBe(
    'leases.coordination.k8s.io "n" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
});
