import { describe, expect, it } from "vitest";
import { configText, embedded, enumerant } from "../../../scripts/serve/workerd/config-text";

const HEAD = `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = `;

describe("the text of a configuration of workerd", () => {
  it("structs, lists, enumerants and files: as the language writes them; a field that is undefined is left out", () => {
    const config = {
      services: [{ name: "a", flags: ["b", "c"], sql: true, size: 3, none: undefined, code: embedded("/x/y.js") }],
      http: { style: enumerant("proxy") },
      empty: {},
    };
    expect(configText(config)).toBe(
      `${HEAD}(services = [(name = "a", flags = ["b", "c"], sql = true, size = 3, code = embed "/x/y.js")], http = (style = proxy), empty = ());\n`,
    );
  });

  it.each([
    ["a quote ends no string", `"), (name = "x`, `\\x22), (name = \\x22x`],
    ["a backslash begins no escape", "\\n", "\\x5cn"],
    ["line ends, tabs, NUL and DEL", "\r\n\t\0\x7f", "\\x0d\\x0a\\x09\\x00\\x7f"],
    ["other characters stay", "é€😀'#", "é€😀'#"],
  ])("a value from outside: %s", (_, value, text) => {
    expect(configText(value)).toBe(`${HEAD}"${text}";\n`);
    expect(configText(embedded(value))).toBe(`${HEAD}embed "${text}";\n`);
  });
});
