import { describe, expect, it } from "vitest";
import { collected, ERRORS_MAX, type FieldError, required } from "../../../../src/api/meta/field-errors";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { podsDefinition } from "../../../../src/api/registry/pods/definition";
import { beforeCreate } from "../../../../src/api/store/write/strategy-order";

describe("errors of one object", () => {
  it("a hundred: all are returned, and no more is looked for", () => {
    let looked = 0;
    const judge = (count: number) => (): FieldError[] =>
      Array.from({ length: count }, (_, i) => {
        looked++;
        return required(`a[${i}]`);
      });
    expect(collected(judge(ERRORS_MAX))).toHaveLength(ERRORS_MAX);
    looked = 0;
    const errors = collected(judge(1_000_000));
    expect(errors.slice(0, ERRORS_MAX)).toEqual(Array.from({ length: ERRORS_MAX }, (_, i) => required(`a[${i}]`)));
    expect(looked).toBe(ERRORS_MAX + 1);
  });

  it("errors that one part takes back: count for nothing outside it", () => {
    const errors = collected(() => {
      const inner = collected(() => Array.from({ length: 5_000 }, () => required("b")));
      expect(inner).toHaveLength(ERRORS_MAX + 1);
      return [required("a")];
    });
    expect(errors).toEqual([required("a")]);
  });

  it("another error on the way: is thrown, and the next object is judged anew", () => {
    const fault = new Error("fault");
    expect(() =>
      collected(() => {
        throw fault;
      }),
    ).toThrow(fault);
    expect(collected(() => Array.from({ length: ERRORS_MAX }, () => required("a")))).toHaveLength(ERRORS_MAX);
  });

  it("a Pod of 5,000 containers without names: a hundred causes in their order", () => {
    const containers = Array.from({ length: 5_000 }, () => ({}));
    const context = { now: 0, serviceFamilies: ["IPv4" as const] };
    const input = { namespace: "default", name: "a", now: 0, uid: "u", context };
    const verdict = beforeCreate(podsDefinition, { metadata: { name: "a" }, spec: { containers } } as KubeObject, input);
    if (verdict.ok) throw new Error("it is valid");
    const { message = "", details } = verdict.error;
    expect(details?.causes).toHaveLength(ERRORS_MAX);
    expect(details?.causes?.slice(0, 3)).toEqual([
      { reason: "FieldValueRequired", message: "Required value", field: "spec.containers[0].name" },
      { reason: "FieldValueRequired", message: "Required value", field: "spec.containers[0].image" },
      { reason: "FieldValueRequired", message: "Required value", field: "spec.containers[1].name" },
    ]);
    expect(message.endsWith("further errors are not listed]")).toBe(true);
  });
});
