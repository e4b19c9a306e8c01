import { describe, expect, it, vi } from "vitest";
import { ServiceSchema } from "../../../../src/api/schema/core-services";
import { type BodyRequest, decodeBody, nameMismatch, namespaceMismatch, readBody, readObject } from "../../../../src/worker/http/body";
import { BODY_MAX_BYTES, BODY_TIMEOUT_MS } from "../../../../src/worker/http/limits";
import type { BodyType } from "../../../../src/worker/http/negotiate";

const SERVICE = { kind: "Service", group: "", version: "v1", schema: ServiceSchema };
const IS_NOT = "the object provided is unrecognized (must be of type Service):";

function decode(text: string | Uint8Array, type: BodyType = "json", fieldValidation: "Strict" | "Warn" | "Ignore" = "Warn"): unknown {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const decoded = decodeBody(bytes, type, SERVICE, fieldValidation);
  return decoded.ok ? decoded.value : `${decoded.error.code} ${decoded.error.message ?? ""}`;
}

describe("decodeBody", () => {
  it("splits kind and apiVersion off; both may be absent", () => {
    const want = { object: { metadata: { name: "a" } }, warnings: [] };
    expect(decode('{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"}}')).toEqual(want);
    expect(decode('{"metadata":{"name":"a"}}')).toEqual(want);
    expect(decode("metadata:\n  name: a\n", "yaml")).toEqual(want);
  });

  it.each([
    { body: "", want: `400 ${IS_NOT} couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)` },
    {
      body: '{"metadata":',
      want: `400 ${IS_NOT} couldn't get version/kind; json parse error: unexpected end of JSON input ({"metadata":)`,
    },
    {
      body: "hello",
      want: `400 ${IS_NOT} couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value (68656c6c6f)`,
    },
    {
      body: '{"kind":"Pod","apiVersion":"v1"}',
      want: '400 Pod in version "v1" cannot be handled as a Service: no kind "Pod" is registered for version "v1" here',
    },
    {
      body: '{"kind":"Service","apiVersion":"v2"}',
      want: "400 the API version in the data (v2) does not match the expected API version (v1)",
    },
    {
      body: '{"spec":{"ports":"x"}}',
      want: /^400 Service in version "v1" cannot be handled as a Service: json: cannot unmarshal string/,
    },
  ])("refuses $body", ({ body, want }) => {
    expect(decode(body)).toEqual(typeof want === "string" ? want : expect.stringMatching(want));
  });

  it("refuses what is not UTF-8", () => {
    expect(decode(new Uint8Array([0x7b, 0xff, 0x7d]))).toMatch(/^400 the object provided is unrecognized .*invalid UTF-8/);
  });

  it("cuts a long body in the text", () => {
    const body = `{"metadata":{"name":"${"a".repeat(100)}"`;
    expect(decode(body)).toMatch(/\(\{"metadata":\{"name":"aaaaaaaaa \.\.\.\)$/);
  });

  const unknown = '{"metadata":{"name":"a"},"spec":{"foo":1,"type":"ClusterIP","type":"NodePort"}}';
  it("Strict: 400 with every problem", () => {
    expect(decode(unknown, "json", "Strict")).toBe(
      '400 Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "spec.foo", duplicate field "spec.type"',
    );
  });

  it("Warn: decoded, with one text per problem", () => {
    expect(decode(unknown, "json", "Warn")).toEqual({
      object: { metadata: { name: "a" }, spec: { type: "NodePort" } },
      warnings: ['unknown field "spec.foo"', 'duplicate field "spec.type"'],
    });
  });

  it("Ignore: decoded in silence", () => {
    expect(decode(unknown, "json", "Ignore")).toMatchObject({ warnings: [] });
  });

  it("YAML: a repeated key is a problem, an alias is resolved, a broken document is refused", () => {
    expect(decode("metadata:\n  name: a\n  name: b\n", "yaml", "Strict")).toMatch(/strict decoding error: yaml: /);
    expect(decode("metadata: &m\n  name: a\nspec: {}\n", "yaml")).toMatchObject({ object: { metadata: { name: "a" } } });
    expect(decode("a: [b\n", "yaml")).toMatch(
      /^400 the object provided is unrecognized \(must be of type Service\): error converting YAML to JSON: yaml: /,
    );
    // 20,000 keys: comparing each with every other would take seconds.
    const many = Array.from({ length: 20_000 }, (_, i) => `  k${i}: v`).join("\n");
    expect(decode(`metadata:\n  name: a\n  annotations:\n${many.replaceAll("  k", "    k")}\n`, "yaml")).toMatchObject({
      object: { metadata: { name: "a" } },
    });
    expect(decode(`a: ${"[".repeat(10_000)}`, "yaml")).toMatch(/^400 /);
    expect(decode("just text", "yaml")).toMatch(/^400 the object provided is unrecognized/);
  });

  it("protobuf: kubectl's create service", () => {
    const hex =
      "6b3873000a0d0a02763112075365727669636512690a1f0a0363697012001a0022002a003200380042005a0a0a03617070120363697012420a1b0a0738302d38303830120354435018502207080010903f1a002800120a0a0361707012036369701a002209436c757374657249503a00420052005a00600068001a020a001a002200";
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    expect(decode(bytes, "protobuf", "Strict")).toMatchObject({
      object: { metadata: { name: "cip", labels: { app: "cip" } }, spec: { type: "ClusterIP", selector: { app: "cip" } } },
      warnings: [],
    });
    expect(decode(bytes.subarray(0, 40), "protobuf")).toMatch(/^400 /);
    expect(decode("{}", "protobuf")).toMatch(/^400 /);
  });
});

/** A body of unknown length; `onPull` hears of each chunk that is asked for. */
function inChunks(bytes: Uint8Array, length: number, onPull: () => void = () => undefined): RequestInit {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      onPull();
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, (at += length)));
    },
  });
  return { body, duplex: "half" } as RequestInit;
}

describe("readBody", () => {
  const over = { ok: false, error: { code: 413, message: "Request entity too large: limit is 3145728" } };

  const posted = (init: RequestInit, grow: BodyRequest["place"]["grow"] = () => true): BodyRequest => ({
    request: new Request("http://h/", { method: "POST", ...init }),
    place: { grow },
  });

  it("takes a body of exactly the limit and refuses one byte more", async () => {
    const fits = await readBody(posted({ body: new Uint8Array(BODY_MAX_BYTES) }));
    expect(fits.ok && fits.value.length).toBe(BODY_MAX_BYTES);
    expect(await readBody(posted({ body: new Uint8Array(BODY_MAX_BYTES + 1) }))).toMatchObject(over);
  });

  it("refuses by the announced length alone", async () => {
    const request = posted({ body: "{}", headers: { "Content-Length": String(BODY_MAX_BYTES + 1) } });
    expect(await readBody(request)).toMatchObject(over);
  });

  it("holds a body of unknown length as it came, and takes its weight before it is held", async () => {
    const whole = Uint8Array.from({ length: 200_000 }, (_, i) => i % 251);
    const weights: number[] = [];
    const read = await readBody(posted(inChunks(whole, 7_001), (weight) => weights.push(weight) > 0));
    expect(read.ok && Buffer.from(read.value).equals(whole)).toBe(true);
    expect([...new Set(weights)]).toEqual([1, 2, 3, 4]);
  });

  it("a body for which there is no room: 429, and the rest is read and dropped", async () => {
    let sent = 0;
    const init = inChunks(new Uint8Array(1_000_000), 1_000, () => sent++);
    expect(await readBody(posted(init, (weight) => weight < 3))).toMatchObject({
      ok: false,
      error: { code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 1 } },
    });
    expect(sent).toBeGreaterThanOrEqual(1_000);
  });

  it.each([
    { what: "of a known length", headers: { "Content-Length": "100" } },
    { what: "of unknown length", headers: {} },
  ])("a body $what that stops coming is a 504 when the request's time is over, a minute at most", async ({ headers }) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      for (const [timeoutMs, afterMs] of [
        [undefined, BODY_TIMEOUT_MS],
        [0, BODY_TIMEOUT_MS],
        [2_000, 2_000],
        [10 * BODY_TIMEOUT_MS, BODY_TIMEOUT_MS],
      ] as const) {
        let cancelled = false;
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new Uint8Array(10)),
          cancel: () => void (cancelled = true),
        });
        const stalled = posted({ body, headers, duplex: "half" } as RequestInit);
        let read: Awaited<ReturnType<typeof readBody>> | undefined;
        void readBody({ ...stalled, ...(timeoutMs === undefined ? {} : { timeoutMs }) }).then((result) => (read = result));
        await vi.advanceTimersByTimeAsync(afterMs - 1);
        expect(read).toBeUndefined();
        await vi.advanceTimersByTimeAsync(1);
        expect(read).toEqual({
          ok: false,
          error: {
            kind: "Status",
            apiVersion: "v1",
            metadata: {},
            status: "Failure",
            message: "Timeout: request did not complete within the allotted timeout",
            reason: "Timeout",
            details: {},
            code: 504,
          },
        });
        expect([cancelled, vi.getTimerCount()]).toEqual([!("Content-Length" in headers), 0]);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it("a body that comes in time leaves no timer behind", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      expect(await readBody(posted(inChunks(new Uint8Array(5_000), 1_000)))).toMatchObject({ ok: true });
      expect(await readBody(posted({ body: new Uint8Array(5), headers: { "Content-Length": "5" } }))).toMatchObject({ ok: true });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("no body is an empty one", async () => {
    const empty = await readBody(posted({ method: "DELETE" }));
    expect(empty.ok && empty.value.length).toBe(0);
  });

  it("an unknown content type is 415", async () => {
    const request = posted({ body: "{}", headers: { "Content-Type": "text/plain" } });
    expect(await readObject(request, SERVICE, "Warn")).toMatchObject({
      error: {
        code: 415,
        message:
          "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      },
    });
  });
});

describe("names in body and URL", () => {
  it("another namespace is refused, none or the same is fine", () => {
    expect(namespaceMismatch({ metadata: { namespace: "b" } }, "a")?.message).toBe(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
    expect(namespaceMismatch({ metadata: {} }, "a")).toBeUndefined();
    expect(namespaceMismatch({ metadata: { namespace: "a" } }, "a")).toBeUndefined();
    expect(namespaceMismatch({ metadata: { namespace: "b" } }, "")).toBeUndefined();
  });

  it("a PUT must name its object", () => {
    expect(nameMismatch({ metadata: { name: "a" } }, "b")?.message).toBe(
      "the name of the object (a) does not match the name on the URL (b)",
    );
    expect(nameMismatch({}, "b")?.message).toBe("the name of the object (b based on URL) was undeterminable: name must be provided");
    expect(nameMismatch({ metadata: { name: "b" } }, "b")).toBeUndefined();
  });
});
