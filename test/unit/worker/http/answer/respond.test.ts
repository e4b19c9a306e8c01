import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { parseYamlText } from "../../../../../src/api/schema/json/yaml-text";
import { badRequest, tooManyRequests } from "../../../../../src/api/meta/status";
import { jsonResponse, renderingOf, statusResponse } from "../../../../../src/worker/http/answer/respond";

const tables = import.meta.glob("../../../../fixtures/upstream/yaml-*.tsv", { query: "?raw", import: "default" });
const table = String(await tables["../../../../fixtures/upstream/yaml-1.36.tsv"]?.());
/** What stands behind `a: ` in the documents that scripts/dev/upstream/yaml asks Go about. */
const scalars = [...table.matchAll(/^("a: [^\t]*)\t/gm)].map(([, text = ""]) => (JSON.parse(text) as string).slice("a: ".length).trimEnd());

describe("statusResponse", () => {
  it("a Status: its code, body and Retry-After", async () => {
    const response = statusResponse(tooManyRequests("slow down", 3));
    expect(response.status).toBe(429);
    expect(response.headers.get("Retry-After")).toBe("3");
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(await response.json()).toMatchObject({ kind: "Status", apiVersion: "v1", code: 429, reason: "TooManyRequests" });
    expect(statusResponse(badRequest("no")).headers.has("Retry-After")).toBe(false);
  });
});

describe("jsonResponse", () => {
  it("warnings: quoted headers, each once", () => {
    const response = jsonResponse(201, "{}", "compact", ['unknown field "spec.foo"', 'unknown field "spec.foo"', "a\nb", "ü"]);
    expect(response.headers.get("Warning")).toBe('299 - "unknown field \\"spec.foo\\"", 299 - "a b", 299 - "\\u00fc"');
  });

  it("too many characters of warnings: each warning is cut", () => {
    const response = jsonResponse(201, "{}", "compact", ["a".repeat(4000), "b".repeat(4000)]);
    expect(response.headers.get("Warning")).toBe(`299 - "${"a".repeat(256)}", 299 - "${"b".repeat(256)}"`);
  });

  it("more warnings than there is room for when they are cut: the first of them", () => {
    const letters = Array.from({ length: 20 }, (_, i) => String.fromCharCode(97 + i).repeat(300));
    const header = jsonResponse(201, "{}", "compact", letters).headers.get("Warning");
    expect(header?.split(", ")).toEqual(letters.slice(0, 16).map((text) => `299 - "${text.slice(0, 256)}"`));
  });

  it("a document: compact unless pretty or YAML is asked for", async () => {
    expect(await jsonResponse(200, '{"a":1}', "compact").text()).toBe('{"a":1}');
    expect(await jsonResponse(200, '{"a":1}', "pretty").text()).toBe('{\n  "a": 1\n}\n');
    const yaml = jsonResponse(200, '{"a":1}', "yaml");
    expect(await yaml.text()).toBe("a: 1\n");
    expect(yaml.headers.get("Content-Type")).toBe("application/yaml");
  });

  it.each([
    "yes",
    "on",
    "N",
    "010",
    "0o10",
    "1_000",
    "1e3",
    "0x1f",
    "1:30",
    "2024-01-01",
    "2026-11-21T23:25:16Z",
    ".inf",
    "~",
    "null",
    "",
    "#a",
    "a: b",
  ])("the text %j: read as text by YAML 1.1 and 1.2", async (text) => {
    const yaml = await jsonResponse(200, JSON.stringify({ [text]: text }), "yaml").text();
    expect(parse(yaml, { version: "1.1" })).toEqual({ [text]: text });
    expect(parse(yaml, { version: "1.2" })).toEqual({ [text]: text });
  });

  it("each scalar that Go was asked about: read as text by Go, in keys and values", async () => {
    expect(scalars.length).toBeGreaterThan(600);
    const value = Object.fromEntries(scalars.map((text) => [text, text]));
    const read = parseYamlText(await jsonResponse(200, JSON.stringify(value), "yaml").text());
    expect(read).toEqual({ ok: true, value: { value, repeated: [] } });
  });

  it("a text that looks like a number for a million characters: is written in a time that grows with them", async () => {
    const text = `${"_0".repeat(500_000)}z`;
    expect(await jsonResponse(200, JSON.stringify({ text }), "yaml").text()).toBe(`text: ${text}\n`);
  });

  it.each([
    "\t",
    'a "\t" b',
    "a\n\tb",
    "\u0001",
    "\u007f",
    "\u0085",
    "\u0091 and \u009f",
    "\u2028",
    "a \u2029 b",
    "\ufeff",
    "\ufffe",
    "\uffff",
    "\\u0091\u0091",
    "'\u0091\"",
  ])("the character that YAML does not print in %j: escaped, in keys and values", async (text) => {
    const yaml = await jsonResponse(200, JSON.stringify({ [text]: text, plain: "é 😀" }), "yaml").text();
    expect(yaml).toMatch(/^[\n\x20-\x7eé😀]*$/u);
    expect(parse(yaml, { version: "1.1" })).toEqual({ [text]: text, plain: "é 😀" });
  });
});

describe("renderingOf", () => {
  it.each([
    { query: "", agent: "kubectl/v1.32", want: "compact" },
    { query: "pretty=true", agent: "kubectl/v1.32", want: "pretty" },
    { query: "pretty=1", agent: "", want: "pretty" },
    { query: "", agent: "curl/8.0", want: "pretty" },
    { query: "", agent: "Mozilla/5.0 (X11)", want: "pretty" },
    { query: "pretty=false", agent: "curl/8.0", want: "compact" },
  ])("$query by $agent: $want", ({ query, agent, want }) => {
    expect(renderingOf("json", new URLSearchParams(query), agent)).toBe(want);
  });
});

describe("an answer that is large as YAML", () => {
  const data = (count: number) => JSON.stringify({ data: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"])) });

  it.each([
    ["40,000 members", data(40_000)],
    ["a text of more than 1 MiB", JSON.stringify({ a: "b".repeat(1024 * 1024) })],
  ])("%s: JSON, which YAML contains", async (_, text) => {
    const answer = jsonResponse(200, text, "yaml");
    expect([answer.headers.get("Content-Type"), (await answer.text()) === text]).toEqual(["application/yaml", true]);
  });

  it("10,000 members: YAML", async () => {
    expect((await jsonResponse(200, data(10_000), "yaml").text()).startsWith("data:\n  k0: v\n")).toBe(true);
  });
});
