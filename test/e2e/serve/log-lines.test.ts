/** The log of `npm start` for people and for programs. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { CLOSING } from "../../../src/worker/http/connection/closing";
import { type LogFormat, logLineText, printLog, ToldFaults } from "../../../scripts/serve/log-lines";
import { parseOptions } from "../../../scripts/serve/options";

const TIME = "2026-06-01T10:20:30.456Z";
const LOCAL = new Date(TIME).toLocaleTimeString("en-GB");
const EVENT = JSON.stringify({ time: TIME, level: "warn", event: "peer call failed", object: "Worker", what: "a b", count: 3, lost: true });

describe("a log line on a terminal", () => {
  it.each([
    ["an event", EVENT, `${LOCAL} warn  peer call failed object=Worker what="a b" count=3 lost=true`],
    ["a text", "workerd says something", "workerd says something"],
    ["JSON that is no event", '{"level":"warn"}', '{"level":"warn"}'],
    ["JSON that is cut short", '{"level":', '{"level":'],
    [
      "an event of several lines",
      JSON.stringify({ time: TIME, level: "error", event: "failed", error: "a\nb" }),
      `${LOCAL} error failed error="a\\nb"`,
    ],
  ])("%s: an event is short text, anything else stays", (_, line, shown) => {
    expect(logLineText(line)).toBe(shown);
  });
});

describe("the log of the runtime", () => {
  async function printed(format: LogFormat, isWanted: () => boolean, text = `${EVENT}\nplain\n`): Promise<string> {
    const [from, to] = [new PassThrough(), new PassThrough()];
    printLog(from, to, { format, isWanted });
    from.end(text);
    await new Promise((resolve) => from.once("close", resolve));
    return String(to.read() ?? "");
  }

  it("json: every line as it is", async () => {
    expect(await printed("json", () => true)).toBe(`${EVENT}\nplain\n`);
  });

  it("lines that come in pieces: are printed whole and in order, an unfinished last one too", async () => {
    const [from, to] = [new PassThrough(), new PassThrough()];
    printLog(from, to, { format: "json", isWanted: () => true });
    for (const piece of ["a\nb", "c\r", "\n{", "}\nlast"]) from.write(piece);
    from.end();
    await new Promise((resolve) => from.once("close", resolve));
    expect(String(to.read())).toBe("a\nbc\n{}\nlast\n");
  });

  it("lines that come together: are written together", async () => {
    const [from, to] = [new PassThrough(), new PassThrough()];
    let writes = 0;
    to.on("data", () => writes++);
    printLog(from, to, { format: "json", isWanted: () => true });
    from.end("{}\n".repeat(100));
    await new Promise((resolve) => from.once("close", resolve));
    expect(writes).toBe(1);
  });

  it("text: events are short", async () => {
    expect(await printed("text", () => true)).toBe(`${logLineText(EVENT)}\nplain\n`);
  });

  it("a disk that takes no data: one error line, whoever of the server tells it first, without the runtime's stack", async () => {
    const raw = "workerd/api/global-scope.c++:668: error: NOSENTRY output lock broke; jsg.Error: database or disk is full: SQLITE_FULL";
    const kv = "workerd/jsg/util.c++:405: error: e = kj/filesystem-disk-unix.c++:390: overloaded: pwrite(fd): No space left on device";
    const alarm =
      "workerd/server/alarm-scheduler.c++:202: warning: exception = x.c++:842: failed: SQLite failed; db = database or disk is full: SQLITE_FULL";
    const event = (name: string, error: string) => JSON.stringify({ time: TIME, level: "error", event: name, error });
    const own = event("the disk is full", "x");
    const others = [
      `${raw}\nstack: a b`,
      `${alarm}\nstack: a b`,
      `${kv}\nstack: a b`,
      event("a turn was lost", "StorageFault: x: SQLITE_FULL"),
      own,
    ];
    expect(await printed("json", () => true, `${own}\n${others.join("\n")}\nplain\n`)).toBe(`${own}\nplain\n`);
    const lost = others[3] ?? "";
    expect(JSON.parse(await printed("json", () => true, `${lost}\n${own}\n`))).toMatchObject({ level: "error", event: "the disk is full" });
    const [first = "", ...rest] = (await printed("json", () => true, `${others.join("\n")}\nplain\n`)).split("\n");
    expect(JSON.parse(first)).toMatchObject({ level: "error", event: "the disk is full" });
    expect(rest).toEqual(["plain", ""]);
  });

  it("a fault that a client's text names, and errors of anything else: stay", async () => {
    const lines = [
      JSON.stringify({ time: TIME, level: "error", event: "request failed", path: "/the disk is full", error: "x: SQLITE_FULL" }),
      JSON.stringify({ time: TIME, level: "error", event: "a turn was lost", error: "Error: broken invariant" }),
      JSON.stringify({ time: TIME, level: "warn", event: "the disk is full" }),
    ];
    const text = `${[...lines, ...lines].join("\n")}\n`;
    expect(await printed("json", () => true, text)).toBe(text);
  });

  it("a fault of the disk that lasts: is told again after a minute", () => {
    let now = 0;
    const faults = new ToldFaults(() => now);
    const told = [0, 59_999, 60_000, 60_001].map((ms) => {
      now = ms;
      return faults.isNew("the disk is full");
    });
    expect([...told, faults.isNew("the disk is read-only")]).toEqual([true, false, true, false, true]);
  });

  const exception = (what: string) => `workerd/server/server.c++:1: error: Uncaught exception: ${what}\nstack: a b c\nplain\n`;

  it("the error that closes a connection: left out with its stack", async () => {
    expect(await printed("json", () => true, exception(`x.h:1: failed: remote.jsg.Error: ${CLOSING}`))).toBe("plain\n");
  });

  it.each(["::write(fd, buffer.begin(), buffer.size()): Broken pipe", "::read(fd, buffer, maxBytes): Connection reset by peer"])(
    "a client that has left (%s): left out with its stack",
    async (what) => {
      const left = `workerd/server/server.c++:1: error: kj::getCaughtExceptionAsKj() = kj/async-io-unix.c++:2: disconnected: ${what}`;
      expect(await printed("json", () => true, `${left}\nstack: a b c\nplain\n`)).toBe("plain\n");
    },
  );

  it("a request that the runtime's parser refuses: one event without a stack", async () => {
    const text = exception('kj/compat/http.c++:2330: failed: invalid Content-Length header value; cl = "abc');
    const [event = "", ...rest] = (await printed("json", () => true, text)).split("\n");
    expect([JSON.parse(event), rest]).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
        level: "warn",
        event: "malformed request",
        reason: 'invalid Content-Length header value; cl = "abc',
      },
      ["plain", ""],
    ]);
  });

  it("clients that do not trust the certificate, or speak no TLS: an event each, without the runtime's words", async () => {
    const begin =
      "kj/compat/tls.c++:5: error: error accepting tls connection; kj::mv(e) = kj/compat/tls.c++:8: failed: OpenSSL error; message = ";
    const untrusted = `${begin}error:10000070:SSL routines:OPENSSL_internal:BAD_PACKET_LENGTH\nerror:1000008b:SSL routines:OPENSSL_internal:X; clientId = 127.0.0.1:1`;
    const plain = `${begin}error:1000009c:SSL routines:OPENSSL_internal:HTTP_REQUEST; clientId = 127.0.0.1:2`;
    const lines = (await printed("json", () => true, `${untrusted}\nstack: a b\n${plain}\nstack: a b\nplain\n`)).split("\n");
    const failed = (reason: string) => ({ time: expect.any(String) as string, level: "info", event: "TLS handshake failed", reason });
    expect(lines.slice(0, 2).map((line) => JSON.parse(line) as unknown)).toEqual([failed("BAD_PACKET_LENGTH"), failed("HTTP_REQUEST")]);
    expect(lines.slice(2)).toEqual(["plain", ""]);
  });

  it.each([
    "kj/compat/http.c++:1: failed: something of the server's own",
    "workerd/io/worker.c++:1: failed: invalid Content-Length header value",
  ])("another exception (%s): stays with its stack", async (what) => {
    expect(await printed("json", () => true, exception(what))).toBe(exception(what));
  });

  it("an unwanted line: left out", async () => {
    expect(await printed("text", () => false)).toBe("");
  });
});

it.each([
  { where: "on a terminal", isTerminal: true, args: [], log: "text" },
  { where: "elsewhere", isTerminal: false, args: [], log: "json" },
  { where: "on a terminal with --log json", isTerminal: true, args: ["--log", "json"], log: "json" },
])("npm start $where: log lines are $log", async ({ isTerminal, args, log }) => {
  expect(await parseOptions(args, isTerminal)).toMatchObject({ log });
});
