import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { conflictStatus } from "../../../../src/api/fields/conflict";
import { cutValue, STATUS_MAX_BYTES } from "../../../../src/api/meta/bounded-status";
import { duplicate, type FieldError, invalidValue, notFoundValue, notSupported } from "../../../../src/api/meta/field-errors";
import * as status from "../../../../src/api/meta/status";

const LONG = "a".repeat(2_800_000);
const MANY = 200_000;
const SERVICES = { group: "", resource: "services", kind: "Service" };
/** What a value in a message may have at most. */
const LONGEST = /[ab]{513}/;

const manager = { manager: "m", operation: "Apply", apiVersion: "v1" } as never;

/** Every way in which a request's values come into a Status. */
const MADE: Record<string, (value: string) => status.Status> = {
  "name not found": (value) => status.notFound(SERVICES, value),
  "name in conflict": (value) => status.conflict(SERVICES, value),
  "name that exists": (value) => status.alreadyExists(SERVICES, value),
  "name of an invalid object": (value) => status.invalid(SERVICES, value, [invalidValue("metadata.name", value, "is wrong")]),
  "resource in a refusal": (value) => status.forbidden({ ...SERVICES, resource: value }, "n", `User "x" cannot ${value} it`),
  "path in a refusal": (value) => status.forbiddenPath(`User "x" cannot get path "/${value}"`),
  "selector without quotes": (value) => status.badRequest(`unable to parse requirement: ${value}`),
  "kind and apiVersion": (value) => status.badRequest(status.unregisteredKind(value, value)),
  host: (value) => status.foreignHost(value),
  "reason of a failure": (value) => status.internalError(value),
  "text without a reason": (value) => status.unclassified(value),
  "resource version": (value) => status.revisionTooLarge(value, 1),
  "uid of what was deleted": (value) => status.deleted(SERVICES, value, value),
  "message of a success": (value) => status.succeeded(200, value, { name: value }),
  "value of a field": (value) => invalidOf(invalidValue("spec.a", value, "is wrong")),
  "object of a field": (value) => invalidOf(invalidValue("spec.a", { [value]: [value] }, "is wrong")),
  "value that is not supported": (value) => invalidOf(notSupported("spec.a", value, ["b"])),
  "value that stands twice": (value) => invalidOf(duplicate("spec.a", value)),
  "value that is not found": (value) => invalidOf(notFoundValue("spec.a", value)),
  "key in a path": (value) => invalidOf(invalidValue(`spec.a[${value}]`, 1, value)),
  "path of an apply's conflict": (value) => conflictStatus([{ identity: "m", manager, path: [`f:${value}`] }]),
};

function invalidOf(error: FieldError): status.Status {
  return status.invalid(SERVICES, "n", [error]);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

describe("a value of a request in a Status", () => {
  it.each(Object.keys(MADE))("%s: is cut to 512 characters", (name) => {
    const text = JSON.stringify(MADE[name]?.(LONG));
    expect(text).not.toMatch(LONGEST);
    expect(bytesOf(text)).toBeLessThan(4_096);
  });

  it.each([
    ["quotes", '"'],
    ["backslashes", "\\"],
    ["blanks between quotes", '" '],
    ["blanks", " "],
    ["control characters", "\u0000"],
    ["characters of three bytes", "\u2028"],
    ["pairs of surrogates", "\u{1F600}"],
    ["lines", "a\n"],
  ])("%s by the ten thousand: the Status stays below its bound in each form", (_, unit) => {
    const value = unit.repeat(MANY / unit.length);
    for (const [name, make] of Object.entries(MADE)) {
      const made = make(value);
      for (const text of [JSON.stringify(made), JSON.stringify(made, null, 2), stringify(made)]) {
        expect(bytesOf(text), name).toBeLessThanOrEqual(STATUS_MAX_BYTES);
      }
    }
  });

  it("a hundred long causes: as many as find room, and the message names the object still", () => {
    const errors = Array.from({ length: 100 }, (_, i) => invalidValue(`spec.a[${i}]`, `${i}${"a b".repeat(1_000)}`, "is wrong"));
    const made = status.invalid(SERVICES, "n", errors);
    expect(bytesOf(JSON.stringify(made))).toBeLessThanOrEqual(STATUS_MAX_BYTES);
    expect(made.message).toMatch(/^Service "n" is invalid: \[spec\.a\[0\]: Invalid value: /);
    expect(made.details?.causes?.length).toBeGreaterThan(20);
  });

  it("many conflicts of an apply: below the bound", () => {
    const conflicts = Array.from({ length: 20_000 }, (_, i) => ({ identity: "m", manager, path: [`f:${i}`] }));
    const made = conflictStatus(conflicts);
    expect(bytesOf(JSON.stringify(made))).toBeLessThanOrEqual(STATUS_MAX_BYTES);
    expect(made.message).toMatch(/^Apply failed with 20000 conflicts: /);
  });

  it("ordinary errors: stand as they are", () => {
    const errors = Array.from({ length: 100 }, (_, i) => invalidValue(`spec.ports[${i}].name`, `name-${i}`, "must be unique"));
    const { message = "", details } = status.invalid(SERVICES, "n", errors);
    expect(details?.causes).toEqual(errors.map(({ field, body, reason }) => ({ field, message: body, reason })));
    expect(message.endsWith('spec.ports[99].name: Invalid value: "name-99": must be unique]')).toBe(true);
  });

  it("a value of 512 characters: stands whole", () => {
    const value = "a".repeat(512);
    expect(status.notFound(SERVICES, value).message).toBe(`services "${value}" not found`);
    expect(cutValue(`${value}a`)).toBe(`${"a".repeat(509)}...`);
  });
});
