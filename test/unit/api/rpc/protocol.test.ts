import { describe, expect, it } from "vitest";
import {
  checkHeader,
  isUnsupported,
  namesVersion,
  resourceMissing,
  SPOKEN,
  UNDERSTOOD,
  unsupported,
  withoutVersion,
  withVersion,
} from "../../../../src/api/rpc/protocol";

const LATER = UNDERSTOOD.to + 1;

describe("the version in a call", () => {
  it.each([[[]], [["a"]], [[undefined, true]], [["a", { b: 1 }, 3, 4, 5, 6, 7]]])(
    "arguments %j: stand where they stood, and arrive as they were",
    (args) => {
      const sent = withVersion(args);
      expect(sent.slice(0, args.length)).toEqual(args);
      expect([sent.length, sent.at(-1)]).toEqual([8, SPOKEN]);
      const received = withoutVersion(sent, "m");
      expect(received.slice(0, args.length)).toEqual(args);
      expect(received.slice(args.length).every((argument) => argument === undefined)).toBe(true);
    },
  );

  it("a caller that names none, as the release before versions: its arguments are taken as they are", () => {
    const args = ["a", undefined];
    expect(withoutVersion(args, "m")).toBe(args);
    expect([namesVersion(args), namesVersion(withVersion(args))]).toEqual([false, true]);
  });

  it("what this release speaks, it understands", () => {
    expect(withoutVersion([1, 2, 3, 4, 5, 6, 7, SPOKEN], "m")).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(UNDERSTOOD.from <= SPOKEN && SPOKEN <= UNDERSTOOD.to).toBe(true);
  });

  it.each([LATER, -1, "1", null, undefined, Number.NaN])(
    "the version %s: is unsupported, and the error names it and the method",
    (version) => {
      const sent = withVersion(["a"]);
      sent[7] = version;
      const refused = `UNSUPPORTED_CALL: write in version ${String(version)} of the protocol; this object understands 0 to 1`;
      expect(() => withoutVersion(sent, "write")).toThrow(refused);
    },
  );

  it("the version in a header: is judged alike", () => {
    for (const version of [null, "0", String(SPOKEN)]) checkHeader(version, "fetch");
    for (const version of [String(LATER), "", "x", "-1"]) {
      const judge = (): void => checkHeader(version, "fetch");
      if (version === "") judge();
      else expect(judge, version).toThrow("UNSUPPORTED_CALL: fetch in version");
    }
  });
});

it.each<[unknown, boolean]>([
  [unsupported("m"), true],
  [new Error(`Error: ${unsupported("m").message}`), true],
  [new TypeError('The RPC receiver does not implement the method "graft".'), true],
  [new Error("no resource ipaddresses in group ipam.cluster.x-k8s.io"), true],
  [resourceMissing("ipam.cluster.x-k8s.io", "ipaddresses"), true],
  [new Error("Network connection lost."), false],
  ["UNSUPPORTED_CALL", false],
])("%s: is unsupported: %s", (error, expected) => {
  expect(isUnsupported(error)).toBe(expected);
});
