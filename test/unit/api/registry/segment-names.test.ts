import { expect, it } from "vitest";
import { validateSegmentName } from "../../../../src/api/registry/segment-names";

const UNFIT = "may not contain control characters or characters beyond U+FFFF";

it.each<[string, string, string[]]>([
  ["a name of upstream's defaults", "system:controller:service-controller", []],
  ["spaces, capitals and letters of other scripts", "Les rôles à moi\uffff", []],
  ["a dot", ".", ["may not be '.'"]],
  ["a slash and a percent sign", "a/b%", ["may not contain '/'", "may not contain '%'"]],
  ["a tab", "a\tb", [UNFIT]],
  ["a line break", "a\nb", [UNFIT]],
  ["the character zero", "a\0", [UNFIT]],
  ["a character beyond U+FFFF", "a😀", [UNFIT]],
  ["half a character", "a\ud83d", [UNFIT]],
  ["1,024 bytes", "ä".repeat(512), []],
  ["1,025 bytes", `${"ä".repeat(512)}a`, ["must be no more than 1024 bytes"]],
])("name of a role, %s: judged", (_, name, want) => {
  expect(validateSegmentName(name)).toEqual(want);
});
