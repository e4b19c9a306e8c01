import { describe, expect, it } from "vitest";
import { invalidValue, notSupported, required, tooMany } from "../../../../src/api/meta/field-errors";
import * as status from "../../../../src/api/meta/status";

const services = { group: "", resource: "services", kind: "Service" };
const leases = { group: "coordination.k8s.io", resource: "leases", kind: "Lease" };

describe("code, reason and message of each refusal", () => {
  it.each<[status.Status, number, string, string]>([
    [status.notFound(services, "n"), 404, "NotFound", 'services "n" not found'],
    [status.notFound(leases, "n"), 404, "NotFound", 'leases.coordination.k8s.io "n" not found'],
    [status.alreadyExists(services, "n"), 409, "AlreadyExists", 'services "n" already exists'],
    [status.alreadyExists(services, "n", true), 409, "AlreadyExists", 'object is being deleted: services "n" already exists'],
    [
      status.conflict(leases, "n"),
      409,
      "Conflict",
      'Operation cannot be fulfilled on leases.coordination.k8s.io "n": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [status.forbidden(services, "n", "because"), 403, "Forbidden", 'services "n" is forbidden: because'],
    [status.forbidden(services, "", "because"), 403, "Forbidden", "services is forbidden: because"],
    [status.internalError("x"), 500, "InternalError", "Internal error occurred: x"],
    [status.unknownResource(), 404, "NotFound", "the server could not find the requested resource"],
    [status.methodNotAllowed(), 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"],
    [status.revisionTooLarge("9", 5), 504, "Timeout", "Timeout: Too large resource version: 9, current: 5"],
    [
      status.revisionTooLarge("018446744073709551615", 5),
      504,
      "Timeout",
      "Timeout: Too large resource version: 18446744073709551615, current: 5",
    ],
    [status.expired("too old resource version: 1 (5)"), 410, "Expired", "too old resource version: 1 (5)"],
  ])("row %#: a Status as upstream's", (given, code, reason, message) => {
    expect(given).toMatchObject({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, message });
  });

  it("details: name the resource; those of Invalid the kind", () => {
    expect(status.notFound(leases, "n").details).toEqual({ name: "n", group: "coordination.k8s.io", kind: "leases" });
    expect(status.invalid(leases, "n", [required("spec")]).details).toMatchObject({
      name: "n",
      group: "coordination.k8s.io",
      kind: "Lease",
    });
    expect(status.notFound(services, "n").details).toEqual({ name: "n", kind: "services" });
  });
});

describe("invalid", () => {
  it("many errors: a hundred are reported, and that there are more", () => {
    const errors = Array.from({ length: 150_000 }, (_, i) => required(`spec.ports[${i}]`));
    const { message = "", details } = status.invalid(services, "n", errors);
    expect(details?.causes).toHaveLength(100);
    expect(message.endsWith("spec.ports[99]: Required value, further errors are not listed]")).toBe(true);
  });

  it("one error: its text without brackets", () => {
    expect(status.invalid(services, "n", [required("spec.ports")]).message).toBe('Service "n" is invalid: spec.ports: Required value');
  });

  it("several errors: a list with equal texts once, and a cause for each error", () => {
    const errors = [invalidValue("a", "x", "bad"), invalidValue("a", "x", "bad"), notSupported("b", "y", ["p", "q"])];
    const given = status.invalid(leases, "n", errors);
    expect(given.message).toBe(
      'Lease.coordination.k8s.io "n" is invalid: [a: Invalid value: "x": bad, b: Unsupported value: "y": supported values: "p", "q"]',
    );
    expect(given.details?.causes).toEqual([
      { reason: "FieldValueInvalid", message: 'Invalid value: "x": bad', field: "a" },
      { reason: "FieldValueInvalid", message: 'Invalid value: "x": bad', field: "a" },
      { reason: "FieldValueNotSupported", message: 'Unsupported value: "y": supported values: "p", "q"', field: "b" },
    ]);
  });

  it("too many items: counted as upstream counts", () => {
    expect(tooMany("x", 2, 1).body).toBe("Too many: 2: must have at most 1 item");
    expect(tooMany("x", 9, 8).body).toBe("Too many: 9: must have at most 8 items");
  });
});

it("deleted: a success with the uid", () => {
  expect(status.deleted(leases, "n", "u")).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "n", group: "coordination.k8s.io", kind: "leases", uid: "u" },
    code: 200,
  });
});
